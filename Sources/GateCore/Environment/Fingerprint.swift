/// The properties of a machine and a scenario that memory values depend on.
package struct Fingerprint: Sendable, Hashable, Codable {
  /// The fields, with their names in result and baseline files.
  package enum Field: String, Sendable, CaseIterable, Comparable, Codable {
    case architecture, pageSize, cpus, aslr, thp, measurement, memoryLimit
    case kernel, libc, image, toolchain, allocator, swap, variables

    /// Whether differences in this field rule out a comparison (judging.md, Environments), as a rule: see
    /// ``Difference/isHard``.
    package var isHard: Bool {
      switch self {
      case .architecture, .pageSize, .cpus, .aslr, .thp, .measurement, .memoryLimit: true
      case .kernel, .libc, .image, .toolchain, .allocator, .swap, .variables: false
      }
    }

    package static func < (lhs: Field, rhs: Field) -> Bool {
      lhs.rawValue < rhs.rawValue
    }
  }

  /// The values of one field in the environments of a baseline and of the current run.
  package struct Difference: Sendable, Hashable, Codable {
    package let field: Field
    package let baseline: String
    package let current: String

    package init(field: Field, baseline: String, current: String) {
      self.field = field
      self.baseline = baseline
      self.current = current
    }

    /// Whether it rules out a comparison.
    ///
    /// Methods that differ in how they count a tree agree on its processes: only values of the tree are not compared
    /// then (``TreeMethod``).
    package var isHard: Bool {
      field.isHard && !isOfTreesOnly
    }

    private var isOfTreesOnly: Bool {
      guard field == .measurement, let before = MeasurementMethod(rawValue: baseline),
        let now = MeasurementMethod(rawValue: current)
      else { return false }
      return before.isTraced == now.isTraced
    }
  }

  /// As printed by `uname -m`.
  package var architecture: String
  package var pageSize: Int
  /// The number of CPUs that the target may use.
  package var cpus: Int
  /// `on` or `off`.
  package var aslr: String
  /// Transparent huge pages: `always`, `madvise`, `never`, or `off` if the scenario turned them off.
  package var thp: String
  /// The measurement method.
  package var measurement: String
  package var memoryLimit: Bytes?
  /// As printed by `uname -r`.
  package var kernel: String
  /// As in `glibc 2.36`.
  package var libc: String
  /// What the CI system says of the image that the job runs in, or empty.
  package var image: String
  /// The versions of compilers and runtimes that the image names, or empty.
  package var toolchain: String
  /// The allocator's settings in the target's environment, or empty.
  package var allocator: String
  /// `on` or `off`.
  package var swap: String
  /// The names of the target's environment variables, as in `DEBUG LANG`, without those of folders and the user.
  ///
  /// Values may be secret; those that the project file sets are a part of the scenario's definition.
  package var variables: String

  package init(
    architecture: String,
    pageSize: Int,
    cpus: Int,
    aslr: String,
    thp: String,
    measurement: String,
    memoryLimit: Bytes? = nil,
    kernel: String,
    libc: String,
    image: String = "",
    toolchain: String = "",
    allocator: String = "",
    swap: String = "off",
    variables: String = ""
  ) {
    self.architecture = architecture
    self.pageSize = pageSize
    self.cpus = cpus
    self.aslr = aslr
    self.thp = thp
    self.measurement = measurement
    self.memoryLimit = memoryLimit
    self.kernel = kernel
    self.libc = libc
    self.image = image
    self.toolchain = toolchain
    self.allocator = allocator
    self.swap = swap
    self.variables = variables
  }

  /// A field's value as text; empty if it is not set.
  package func text(of field: Field) -> String {
    switch field {
    case .architecture: architecture
    case .pageSize: Bytes(Int64(pageSize)).spelled
    case .cpus: "\(cpus)"
    case .aslr: aslr
    case .thp: thp
    case .measurement: measurement
    case .memoryLimit: memoryLimit?.spelled ?? ""
    case .kernel: kernel
    case .libc: libc
    case .image: image
    case .toolchain: toolchain
    case .allocator: allocator
    case .swap: swap
    case .variables: variables
    }
  }

  /// The fields that differ from a baseline's.
  package func differences(fromBaseline baseline: Fingerprint) -> [Difference] {
    Field.allCases.compactMap { field in
      let (old, new) = (baseline.text(of: field), text(of: field))
      return old == new ? nil : Difference(field: field, baseline: old, current: new)
    }
  }

  /// Whether no tracer stops each process at its exit.
  var isSampled: Bool { MeasurementMethod(rawValue: measurement)?.isTraced == false }

  /// A name made of the hard fields, omitting usual values, as in `linux-x86_64-2cpu`, or `linux-x86_64-2cpu-sampled`.
  package func derivedName(ignoring ignored: Set<Field> = []) -> String {
    var parts = ["linux", architecture]
    if !ignored.contains(.cpus) { parts.append("\(cpus)cpu") }
    if isSampled, !ignored.contains(.measurement) { parts.append(MeasurementMethod.sampled.rawValue) }
    if aslr != "off", !ignored.contains(.aslr) { parts.append("aslr") }
    if thp != "madvise", !ignored.contains(.thp) { parts.append("thp_\(thp)") }
    if pageSize != Bytes.usualPage.count, !ignored.contains(.pageSize) { parts.append("page\(text(of: .pageSize))") }
    if let memoryLimit, !ignored.contains(.memoryLimit) { parts.append("limit\(memoryLimit.spelled)") }
    return FileName.component(for: parts.joined(separator: "-"))
  }
}
