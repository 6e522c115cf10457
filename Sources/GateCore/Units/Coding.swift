/// A value that files store as one number or one string.
///
/// Reading checks it by its initialiser, which may throw a ``UnitError``.
package protocol SingleValueCodable: Codable {
  associatedtype Coded: Codable
  var coded: Coded { get }
  init(coded: Coded) throws
}

extension SingleValueCodable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do {
      try self.init(coded: try container.decode(Coded.self))
    } catch let error as UnitError {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: error.problem)
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(coded)
  }
}

extension Bytes: SingleValueCodable {
  package var coded: Int64 { count }
  package init(coded: Int64) { self.init(coded) }
}

extension Percent: SingleValueCodable {
  package var coded: Double { value }
  package init(coded: Double) { self.init(coded) }
}

extension Signal: SingleValueCodable {
  package var coded: String { name }
  package init(coded: String) throws {
    guard let signal = Signal(name: coded) else {
      throw UnitError(problem: "no signal has the name `\(coded)`", hint: "")
    }
    self = signal
  }
}

extension ScenarioName: SingleValueCodable {
  package var coded: String { text }
  package init(coded: String) { self.init(coded) }
}
