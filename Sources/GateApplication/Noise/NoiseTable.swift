import GateCore

/// The noise of a scenario's metrics, with the changes that checks can detect.
struct NoiseTable {
  let study: NoiseStudy
  /// The metrics that have a smallest detectable rise in the table.
  let reported: [MetricNoise]

  func write(to page: inout TerminalPage) {
    spreads.write(to: &page, indent: 2, limits: [16])
    page.gap()
    page.paragraph("smallest detectable rise, by the number of repetitions (baseline of 10)", indent: 2)
    detectableRises.write(to: &page, indent: 2, limits: [16])
  }

  /// The lowest and the highest value are shown as differences from the median, since absolute values look alike.
  private var spreads: Table {
    let columns: [Table.Column] = [
      .init(title: "metric", side: .left), .init(title: "median"), .init(title: "deviation"), .init(gap: 1),
      .init(title: "lowest"), .init(title: "highest"),
    ]
    let rows = study.metrics.map { noise -> [Table.Cell] in
      let isNoisy = study.tooNoisy.contains { $0.metric == noise.metric }
      return [
        .init(noise.metric.label(unit: noise.unit)), .init(Self.amount(noise.median, noise)),
        .init(Self.amount(noise.deviation, noise), isNoisy ? .unsure : nil),
        .init(noise.share(noise.deviation)),
        .init(Self.difference(noise.range.lowerBound - noise.median, noise)),
        .init(Self.difference(noise.range.upperBound - noise.median, noise)),
      ]
    }
    return Table(columns: columns, rows: rows)
  }

  private var detectableRises: Table {
    let counts = reported.first?.detectable.map(\.repetitions) ?? []
    let columns = counts.flatMap { count in
      [Table.Column(title: "\(count)", gap: 3), Table.Column(gap: 1)]
    }
    let rows = reported.map { noise -> [Table.Cell] in
      [Table.Cell(noise.metric.label(unit: noise.unit))]
        + noise.detectable.flatMap { detectable -> [Table.Cell] in
          [.init(Self.amount(detectable.size, noise)), .init(noise.share(detectable.size), .faint)]
        }
    }
    return Table(columns: [.init(title: "metric", side: .left)] + columns, rows: rows)
  }

  private static func amount(_ value: Double, _ noise: MetricNoise) -> String {
    Format.plainAmount(value, unit: noise.unit)
  }

  private static func difference(_ value: Double, _ noise: MetricNoise) -> String {
    let text = amount(value, noise)
    return value > 0 ? "+" + text : text
  }
}

extension MetricNoise {
  /// A percentage of the median, as in `0.02 %`; empty if it has no meaning.
  func share(_ part: Double) -> String {
    percent(part).map(Format.share) ?? ""
  }
}
