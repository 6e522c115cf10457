import GateCore

/// The composition of memory, as stacked bars and as a table.
struct CompositionPicture {
  let before: Composition?
  let now: Composition
  /// The reading closest to the peak.
  let nearPeak: Composition?
  /// The peak of the same repetition.
  let peak: Bytes?
  /// The names of `before` and `now`.
  let sides: (before: String, now: String)

  /// The number of mapped files in the table.
  private static let mostLibraries = 8

  /// As in `+4.1 MiB: anonymous +3.8 MiB (heap +3.8 MiB), file +51.2 KiB (libssl.so.3 +51.2 KiB)`; nil without a
  /// comparison.
  var change: String? {
    guard let before else { return nil }
    let text = CompositionChange(before: before, now: now).text
    guard !text.isEmpty else { return "unchanged from \(sides.before == "baseline" ? "the baseline" : sides.before)" }
    return "\(Format.difference(Double((now.resident - before.resident).count))): \(text)"
  }

  /// The part of the peak by which a reading may miss it and still show its composition.
  private static let nearness = 0.01

  private var distance: Int64 { (peak ?? .zero).count - (nearPeak?.resident ?? .zero).count }
  private var isAtPeak: Bool { Double(distance.magnitude) <= Double((peak ?? .zero).count) * Self.nearness }

  /// How far the reading is from the peak; nil if it shows its composition.
  var peakRemark: String? {
    guard nearPeak != nil, peak != nil, !isAtPeak else { return nil }
    let side = distance > 0 ? "below" : "above"
    return "the reading nearest to the peak is \(Format.amount(Bytes(abs(distance)))) \(side) it"
  }

  private var bars: [(name: String, composition: Composition)] {
    let place = isAtPeak ? "at the peak" : "near the peak"
    let all: [(String, Composition?)] = [(sides.before, before), (sides.now, now), (place, nearPeak)]
    return all.compactMap { name, composition in composition.map { (name, $0) } }
  }

  // MARK: Picture

  private static let (left, right, rowHeight) = (76, 800, 26)

  var text: String {
    let bars = bars
    let longest = bars.map(\.composition.resident.count).max() ?? 0
    let scale = SVGScale(0...Double(max(1, longest)), onto: (Self.left, Self.right))
    let rows = bars.enumerated().map { index, bar in
      row(bar.name, bar.composition, top: index * Self.rowHeight, scale: scale)
    }
    let words = bars.map { "\($0.name) \(Format.amount($0.composition.resident))" }.joined(separator: ", ")
    return """
      <svg class="parts" viewBox="0 0 880 \(bars.count * Self.rowHeight)" role="img">\
      <title>Memory composition</title><desc>\(SVGText.safe(words))</desc>\(rows.joined())</svg>
      """
  }

  private func row(_ name: String, _ composition: Composition, top: Int, scale: SVGScale) -> String {
    var sum: Int64 = 0
    let parts = CompositionPart.allCases.map { part in
      let from = scale.tenths(Double(sum))
      sum += part.amount(in: composition).count
      return segment(part.rawValue, part.ink, from: from, to: scale.tenths(Double(sum)), top: top)
    }
    let end = scale.tenths(Double(sum)) / 10 + 6
    return """
      <text class="name" x="0" y="\(top + 15)">\(SVGText.safe(name))</text>\(parts.joined())\
      <text x="\(end)" y="\(top + 15)">\(SVGText.safe(Format.amount(composition.resident)))</text>
      """
  }

  /// A part, with its name if it fits: colour alone must not carry information.
  private func segment(_ name: String, _ ink: SVGChart.Ink, from: Int, to: Int, top: Int) -> String {
    guard to > from else { return "" }
    let hasRoom = (to - from) / 10 > name.count * 7 + 8
    let label = "<text x=\"\(SVGText.tenths(from + 50))\" y=\"\(top + 15)\">\(SVGText.safe(name))</text>"
    return """
      <rect class="\(ink.rawValue)" x="\(SVGText.tenths(from))" y="\(top + 2)" width="\(SVGText.tenths(to - from))" \
      height="20"/>\(hasRoom ? label : "")
      """
  }

  // MARK: Table

  func table(_ style: TerminalStyle) -> Table {
    let columns = bars.map { Table.Column(title: $0.name) } + (before == nil ? [] : [Table.Column(title: "change")])
    return Table(
      columns: [.init(title: "kind of memory", side: .left)] + columns,
      rows: kinds.map { row($0.name, .strong, $0.amount) }
        + libraries.map { name in
          row(TerminalText.safe(name), nil) { $0.resident(of: name) }
        }
    )
  }

  private func row(_ name: String, _ tone: Tone?, _ amount: (Composition) -> Bytes?) -> [Table.Cell] {
    let cells = bars.map { Table.Cell(amount($0.composition).map { Format.amount($0) } ?? "") }
    guard let before else { return [.init(name, tone)] + cells }
    let ends = (amount(before), amount(now))
    let change = ends.0.flatMap { old in ends.1.map { Format.difference(Double(($0 - old).count)) } }
    return [.init(name, tone)] + cells + [.init(change ?? "")]
  }

  private var kinds: [(name: String, amount: (Composition) -> Bytes?)] {
    let all: [(name: String, amount: (Composition) -> Bytes?)] = [
      ("anonymous", { $0.anonymous }), ("anonymous: heap", { $0.heap }), ("anonymous: stack", { $0.stack }),
      ("anonymous: huge pages", { $0.hugePages }), ("anonymous: lazily freed", { $0.lazilyFreed }),
      ("file", { $0.file }),
      ("shared", { $0.shared }), ("total", { $0.resident }),
    ]
    return all.filter { kind in bars.contains { kind.amount($0.composition) ?? .zero != .zero } }
  }

  /// The names of the largest mapped files.
  private var libraries: [String] {
    let sizes = bars.flatMap(\.composition.libraries).reduce(into: [:]) { sizes, library in
      sizes[library.name] = max(sizes[library.name] ?? .zero, library.resident)
    }
    return sizes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(Self.mostLibraries).map(\.key)
  }
}

extension Composition {
  /// nil if the list, which has only the largest files, lacks it.
  fileprivate func resident(of library: String) -> Bytes? {
    let found = libraries.filter { $0.name == library }
    return found.isEmpty ? nil : Bytes(found.map(\.resident.count).reduce(0, +))
  }
}
