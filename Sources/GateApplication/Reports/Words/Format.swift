import GateCore

/// Amounts as text; the space before a unit is a no-break space until the line is written.
enum Format {
  static let space = TerminalText.noBreakSpace

  /// An amount in a metric's unit, as in `23.1 MiB` or `1.2 KiB/iteration`.
  static func amount(_ value: Double, unit: String = "bytes") -> String {
    plainAmount(value, unit: unit) + MetricUnit.suffix(of: unit)
  }

  /// A difference of two amounts with its sign, as in `+1.2 MiB`; without a sign if it is printed as zero.
  static func difference(_ value: Double, unit: String = "bytes") -> String {
    let text = amount(value, unit: unit)
    return value > 0 && text.contains { ("1"..."9").contains($0) } ? "+" + text : text
  }

  /// A percentage of the baseline with its sign, as in `+5.3 %`; empty if there is none, or the baseline is almost zero.
  static func percent(_ value: Double?) -> String {
    guard let value, value.magnitude < largestPercentage else { return "" }
    let text = Decimals.text(value, places: value.magnitude < 1000 ? 1 : 0)
    return (value > 0 && text != "0.0" ? "+" + text : text) + "\(space)%"
  }

  /// Above this a percentage says less than the amount.
  private static let largestPercentage = 1e4

  /// As in ` (+5.3 %)`; empty where ``percent(_:)`` is.
  static func bracketedPercent(_ value: Double?) -> String {
    let text = percent(value)
    return text.isEmpty ? "" : " (\(text))"
  }

  /// A change as a percentage, or as a difference if that is empty.
  static func change(percent value: Double?, absolute: Double, unit: String) -> String {
    let text = percent(value)
    return text.isEmpty ? difference(absolute, unit: unit) : text
  }

  /// A percentage without a sign, with two digits below ten, as in `0.93 %`, `4.1 %` or `12 %`; empty as ``percent(_:)``.
  static func share(_ value: Double) -> String {
    guard value.magnitude < largestPercentage else { return "" }
    return Decimals.text(value, places: value < 1 ? 2 : value < 10 ? 1 : 0) + "\(space)%"
  }

  /// The amount without its denominator, as in `1.2 KiB` for 1.2 KiB per iteration.
  static func plainAmount(_ value: Double, unit: String) -> String {
    guard value.isFinite, value.magnitude < 1e18 else { return "unknown" }
    guard MetricUnit.isMemory(unit) else { return glued(MetricUnit.ownText(of: value, unit: TerminalText.safe(unit))) }
    if unit != "bytes", value.magnitude < 1024, value != value.rounded() {
      return Decimals.text(value, places: 1) + "\(space)B"
    }
    return glued(Bytes(Int64(value.rounded())).description)
  }

  /// A duration; below a millisecond as a fraction of it, since not every terminal shows `µ`.
  static func time(_ duration: Duration) -> String {
    guard duration > .zero, duration < .milliseconds(1) else {
      return duration == .zero ? "0\(space)s" : glued(duration.displayText)
    }
    return Decimals.text(duration.inSeconds * 1000, places: 3) + "\(space)ms"
  }

  /// A short duration to a tenth of a millisecond, as in `12.3 ms`.
  static func exactTime(_ duration: Duration) -> String {
    duration < .seconds(1) ? Decimals.text(duration.inSeconds * 1000, places: 1) + "\(space)ms" : time(duration)
  }

  /// A time since the start of a repetition, to the millisecond, as in `1.234 s`.
  static func instant(_ duration: Duration) -> String {
    Decimals.text(duration.inSeconds, places: 3) + "\(space)s"
  }

  static func amount(_ bytes: Bytes) -> String {
    glued(bytes.description)
  }

  /// The number and the noun, as in `1 scenario` or `3 scenarios`.
  static func count(_ number: Int, _ noun: String, plural: String? = nil) -> String {
    "\(number)\(space)" + (number == 1 ? noun : plural ?? noun + "s")
  }

  /// As in `3.0 times`.
  static func factor(_ value: Double) -> String { "\(Decimals.text(value, places: 1))\(space)times" }

  static func glued(_ text: String) -> String {
    String(text.map { $0 == " " ? space : $0 })
  }
}
