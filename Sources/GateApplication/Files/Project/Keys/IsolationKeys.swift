import GateCore

/// The keys of `isolation`.
enum IsolationKeys {
  static let aslr = Key(
    "aslr", .either("on", or: "off"), "`off`: fixed addresses, which makes runs much more alike; `on`",
    standard: "`off`", example: "aslr: on")
  static let thp = Key(
    "thp", ValueForm<Isolation.HugePages>.choice, "transparent huge pages: `inherit`, or `off` for the target",
    standard: "`inherit`", example: "thp: off")
  static let cpus = Key(
    "cpus", cpuList, #"CPUs that the target may use: `"0-1,3"`, a number or a list"#, standard: "all",
    example: #"cpus: "0""#)
  static let tracer = Key(
    "tracer", ValueForm<Isolation.Tracer>.choice,
    "`auto`: trace where permitted; `on`: an error where not; `off`: never, for targets that trace others",
    standard: "`auto`", example: "tracer: off")
  static let table = KeyTable(
    "isolation", of: "`isolation`", [aslr.row, thp.row, cpus.row, tracer.row], example: "isolation: {aslr: off}")

  static func isolation(_ fields: Fields) -> Isolation {
    var isolation = Isolation()
    fields.take(aslr, into: &isolation.randomAddresses)
    fields.take(thp, into: &isolation.hugePages)
    fields.take(cpus, into: &isolation.cpus)
    fields.take(tracer, into: &isolation.tracer)
    return isolation
  }

  private static let lastCPU = Isolation.mostCPUs - 1

  /// `"0-1,3"`, a number, or a list of numbers; the result is sorted and unique.
  private static let cpuList = ValueForm<[Int]>(
    .any([
      .integer(0...lastCPU), .pattern("^[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*$"),
      .list(.integer(0...lastCPU), isShort: false),
    ])
  ) { value, row, context in
    if case .sequence = value.content {
      return context.oneOrMore(value, as: row.name) { context.integer($0, as: row.name, in: 0...lastCPU) }
        .map { Set($0).sorted() }
    }
    guard let text = context.line(value, as: row.name, example: #"cpus: "0-1,3""#) else { return nil }
    var cpus: Set<Int> = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false).map(number)
      guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, first <= last else {
        context.printError(
          "`\(Shown.text(text))` is not a list of CPUs",
          at: value.place,
          hint: #"numbers from 0 to \#(lastCPU) and ranges, such as `cpus: "0-1,3"`"#
        )
        return nil
      }
      cpus.formUnion(first...last)
    }
    return cpus.sorted()
  }

  private static func number(_ text: Substring) -> Int? {
    guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text).flatMap { $0 <= lastCPU ? $0 : nil }
  }
}
