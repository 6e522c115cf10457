import GateCore

/// What resident memory consists of; an empty object is none.
///
/// `libraries` is an object of amounts by name, so that one line of a diff is one library.
struct CompositionDocument: Codable {
  let composition: Composition?
  private let mostLibraries: Int

  init(_ composition: Composition?, mostLibraries: Int = Composition.mostLibraries) {
    self.composition = composition
    self.mostLibraries = mostLibraries
  }

  init(from decoder: any Decoder) throws {
    self.init(try Composition(JSONFields(decoder)))
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    guard let composition else { return }
    try fields.encode(composition.anonymous.count, forKey: "anon")
    try fields.encode(composition.file.count, forKey: "file")
    try fields.encode(composition.shared.count, forKey: "shmem")
    try fields.encodeIfPresent(composition.stack?.count, forKey: "stack")
    try fields.encodeIfPresent(composition.heap?.count, forKey: "heap")
    try fields.encodeIfPresent(composition.lazilyFreed?.count, forKey: "lazyFree")
    try fields.encodeIfPresent(composition.hugePages?.count, forKey: "hugePages")
    guard !composition.libraries.isEmpty else { return }
    var libraries = fields.nestedContainer(keyedBy: JSONName.self, forKey: "libraries")
    // Files of one name in several folders are told together.
    let amounts = composition.libraries.reduce(into: [:]) { $0[$1.name.boundedStart, default: 0] += $1.resident.count }
    for library in Composition.largest(amounts, mostLibraries) {
      try libraries.encode(library.resident.count, forKey: JSONName(library.name))
    }
  }
}

extension Composition {
  /// Reads a composition; nil where the object has none of its parts.
  fileprivate init?(_ fields: JSONFields) throws {
    let amounts = try ["anon", "file", "shmem", "stack", "heap", "lazyFree", "hugePages"].map { key in
      try fields.amountIfAny(JSONName(key))
    }
    guard amounts.contains(where: { $0 != nil }) else { return nil }
    self.init(
      anonymous: amounts[0] ?? .zero, file: amounts[1] ?? .zero, shared: amounts[2] ?? .zero, stack: amounts[3],
      heap: amounts[4], lazilyFreed: amounts[5], hugePages: amounts[6],
      libraries: try fields.valueIfAny("libraries", as: LibrariesDocument.self)?.libraries ?? []
    )
  }

  /// The largest first, of equal ones the first by name.
  fileprivate static func largest(_ amounts: [String: Int64], _ most: Int) -> [Library] {
    let sorted = amounts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    return sorted.prefix(most).map { Library(name: $0.key, resident: Bytes($0.value)) }
  }
}

/// Resident pages by the names of mapped files.
private struct LibrariesDocument: Decodable {
  let libraries: [Composition.Library]

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    let names = fields.names.filter { $0.utf8.count <= DocumentLimit.text }
    let amounts = try names.compactMap { name in try fields.amountIfAny(JSONName(name)).map { (name, $0.count) } }
    libraries = Composition.largest(
      Dictionary(amounts, uniquingKeysWith: { first, _ in first }), Composition.mostLibraries)
  }
}
