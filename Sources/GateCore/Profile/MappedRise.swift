/// The rise of memory that is not anonymous, by what is mapped.
package struct MappedRise: Sendable, Hashable, Codable {
  package enum Kind: String, Sendable, Hashable, Codable {
    /// Pages of files, libraries among them.
    case files
    /// `tmpfs`, `memfd_create`, System V segments and shared mappings without a file.
    case shared
  }

  /// A file, or a shared segment, by its name.
  package struct Mapping: Sendable, Hashable, Codable {
    package var name: String
    package var rise: Bytes

    package init(_ name: String, rise: Bytes) {
      (self.name, self.rise) = (name, rise)
    }
  }

  package var kind: Kind
  package var rise: Bytes
  /// The mappings that rose most, by what they rose by; empty if they are unknown.
  package var largest: [Mapping]

  /// Smaller rises come and go: the kernel maps up to 64 KiB around each fault of a file's page (`fault_around_bytes`).
  package static let least = Bytes.kibibytes(256)

  package init(_ kind: Kind, rise: Bytes, largest: [Mapping] = []) {
    (self.kind, self.rise, self.largest) = (kind, rise, largest)
  }
}
