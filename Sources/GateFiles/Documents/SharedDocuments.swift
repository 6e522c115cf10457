import GateCore

/// A schema's name and version, which each document says first of itself.
struct DocumentSchema {
  let name: String
  let version: Int

  static let result = DocumentSchema(name: "highwater.result", version: 1)
  static let baseline = DocumentSchema(name: "highwater.baseline", version: 1)
  static let recording = DocumentSchema(name: "highwater.recording", version: 1)
  static let noise = DocumentSchema(name: "highwater.noise", version: 1)
  static let run = DocumentSchema(name: "highwater.run", version: 1)

  var text: String { "\(name)/\(version)" }

  /// Refuses a document of another kind, or of a version whose keys may mean something else.
  func check(_ fields: JSONFields) throws {
    let found = try fields.text("schema")
    guard found != text else { return }
    let shown = DocumentFault.shown(found)
    guard found.hasPrefix("\(name)/") else {
      throw DocumentFault(code: .wrongSchema, problem: "has the schema `\(shown)`, not `\(text)`")
    }
    throw DocumentFault(
      code: .wrongSchema,
      problem: "has the schema `\(shown)`, and this version of \(Tool.name) reads `\(text)`",
      hint: "use the version of \(Tool.name) that wrote it, or a newer one"
    )
  }
}

/// What memory figures depend on, under the names of ``Fingerprint/Field``.
struct FingerprintDocument: Codable {
  let fingerprint: Fingerprint

  init(_ fingerprint: Fingerprint) {
    self.fingerprint = fingerprint
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    func soft(_ field: Fingerprint.Field) throws -> String {
      try fields.textIfAny(JSONName(field.rawValue)) ?? ""
    }
    fingerprint = Fingerprint(
      architecture: try fields.text("architecture"),
      pageSize: Int(try fields.whole("pageSize", in: 1...(1 << 30))),
      cpus: Int(try fields.whole("cpus", in: 1...(1 << 20))),
      aslr: try fields.text("aslr"),
      thp: try fields.text("thp"),
      measurement: try fields.text("measurement"),
      memoryLimit: try fields.amountIfAny("memoryLimit"),
      kernel: try soft(.kernel),
      libc: try soft(.libc),
      allocator: try soft(.allocator),
      swap: try soft(.swap),
      environmentHash: try soft(.environmentHash)
    )
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    for field in Fingerprint.Field.allCases {
      let (key, text) = (JSONName(field.rawValue), fingerprint.text(of: field))
      switch field {
      case .pageSize: try fields.encode(fingerprint.pageSize, forKey: key)
      case .cpus: try fields.encode(fingerprint.cpus, forKey: key)
      case .memoryLimit: try fields.encodeIfPresent(fingerprint.memoryLimit?.count, forKey: key)
      default: if field.isHard || !text.isEmpty { try fields.encode(text, forKey: key) }
      }
    }
  }
}

/// An environment; `ignored` is there only where something is, and a field of a later version in it is left out.
struct EnvironmentDocument: Codable {
  let environment: EnvironmentInfo

  init(_ environment: EnvironmentInfo) {
    self.environment = environment
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    let ignored = try fields.listIfAny("ignored", of: TextDocument.self)
    environment = EnvironmentInfo(
      name: try fields.name("name"),
      fingerprint: try fields.value("fingerprint", as: FingerprintDocument.self).fingerprint,
      ignoredFields: Set(ignored.compactMap { Fingerprint.Field(rawValue: $0.text) }),
      counters: try fields.valueIfAny("counters", as: CountersDocument.self)?.check
    )
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(environment.name, forKey: "name")
    try fields.encode(FingerprintDocument(environment.fingerprint), forKey: "fingerprint")
    let ignored = environment.ignoredFields.sorted().map(\.rawValue)
    if !ignored.isEmpty { try fields.encode(ignored, forKey: "ignored") }
    try fields.encodeIfPresent(environment.counters.map(CountersDocument.init), forKey: "counters")
  }
}

/// How exact the machine's counters were.
private struct CountersDocument: Codable {
  let check: CounterCheck

  init(_ check: CounterCheck) {
    self.check = check
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    let most = Bytes.largest.count
    check = CounterCheck(
      bound: Bytes(try fields.whole("bound", in: 0...most)),
      difference: Bytes(try fields.whole("difference", in: -most...most))
    )
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(check.bound.count, forKey: "bound")
    try fields.encode(check.difference.count, forKey: "difference")
  }
}

extension JSONFields {
  func amountIfAny(_ key: JSONName) throws -> Bytes? {
    try wholeIfAny(key, in: 0...Bytes.largest.count).map { Bytes($0) }
  }
}
