extension Fingerprint.Field: CodingKey {}

extension Fingerprint {
  /// A hard field is required; a missing soft field is empty.
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Field.self)
    func text(_ field: Field) throws -> String {
      field.isHard
        ? try fields.decode(String.self, forKey: field) : try fields.decodeIfPresent(String.self, forKey: field) ?? ""
    }
    func count(_ field: Field, atMost most: Int) throws -> Int {
      let count = try fields.decode(Int.self, forKey: field)
      guard (1...most).contains(count) else { throw fields.corrupted(field, "is not between 1 and \(most)") }
      return count
    }
    self.init(
      architecture: try text(.architecture),
      pageSize: try count(.pageSize, atMost: 1 << 30),
      cpus: try count(.cpus, atMost: 1 << 20),
      aslr: try text(.aslr),
      thp: try text(.thp),
      measurement: try text(.measurement),
      memoryLimit: try fields.decodeIfPresent(Bytes.self, forKey: .memoryLimit),
      kernel: try text(.kernel),
      libc: try text(.libc),
      image: try text(.image),
      toolchain: try text(.toolchain),
      allocator: try text(.allocator),
      swap: try text(.swap),
      variables: try text(.variables)
    )
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Field.self)
    for field in Field.allCases {
      let text = text(of: field)
      switch field {
      case .pageSize: try fields.encode(pageSize, forKey: field)
      case .cpus: try fields.encode(cpus, forKey: field)
      case .memoryLimit: try fields.encodeIfPresent(memoryLimit, forKey: field)
      default: if field.isHard || !text.isEmpty { try fields.encode(text, forKey: field) }
      }
    }
  }
}

extension EnvironmentInfo {
  enum CodingKeys: String, CodingKey {
    case name, fingerprint
    case ignoredFields = "ignored"
    case counters
  }
}

extension CounterCheck: Codable {
  private enum CodingKeys: CodingKey {
    case bound, difference
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    // Unlike an amount, it may be negative.
    let difference = try fields.decode(Int64.self, forKey: .difference)
    self.init(bound: try fields.decode(Bytes.self, forKey: .bound), difference: Bytes(difference))
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(bound, forKey: .bound)
    try fields.encode(difference, forKey: .difference)
  }
}

// Used by the synthesised coding: fields are sorted, may be missing, and are ignored if unknown.

extension KeyedDecodingContainer {
  func decode(_ type: Set<Fingerprint.Field>.Type, forKey key: Key) throws -> Set<Fingerprint.Field> {
    Set((try decodeIfPresent([String].self, forKey: key) ?? []).compactMap { Fingerprint.Field(rawValue: $0) })
  }
}

extension KeyedEncodingContainer {
  mutating func encode(_ value: Set<Fingerprint.Field>, forKey key: Key) throws {
    if !value.isEmpty { try encode(value.sorted(), forKey: key) }
  }
}
