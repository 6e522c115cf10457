package import GateCore
import Glibc

/// Properties of the machine, and of the way that targets run on it.
package enum Machine {
  /// The environment in which a scenario's values are measured; `environment` is the runner's own.
  package static func fingerprint(for scenario: Scenario, environment: [String: String]) -> Fingerprint {
    let variables = TargetEnvironment(for: scenario.target, runner: environment).variables
    let system = systemNames()
    return Fingerprint(
      architecture: system.machine,
      pageSize: PageSize.bytes,
      cpus: usableCPUs(of: scenario.isolation),
      aslr: addressesAreRandom(for: scenario.isolation) ? "on" : "off",
      thp: scenario.isolation.hugePages == .off ? "off" : hugePages(),
      measurement: method(for: scenario).rawValue,
      memoryLimit: scenario.memoryLimit,
      kernel: system.release,
      libc: libc(),
      image: settings(in: environment, where: imageNames.contains),
      toolchain: settings(in: environment, where: toolchainNames.contains),
      allocator: settings(in: variables, where: isAllocatorSetting),
      swap: swapInUse() == nil ? "off" : "on",
      variables: names(of: variables)
    )
  }

  /// `uname -m` and `uname -r`.
  static func systemNames() -> (machine: String, release: String) {
    var names = utsname()
    guard uname(&names) == 0 else { return ("unknown", "unknown") }
    return (text(of: &names.machine), text(of: &names.release))
  }

  private static func text<Field>(of field: inout Field) -> String {
    withUnsafeBytes(of: &field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  private static func usableCPUs(of isolation: Isolation) -> Int {
    if let shown = isolation.cpuCount { return shown }
    let usable = Set(LinuxCalls.usableCPUs())
    guard let wanted = isolation.cpus else { return usable.count }
    return usable.intersection(wanted).count
  }

  /// ASLR is on if the scenario wants it or it cannot be disabled, but never if the machine disables it for all.
  private static func addressesAreRandom(for isolation: Isolation) -> Bool {
    randomizesAddresses && (isolation.randomAddresses || !LinuxCalls.canFixAddresses)
  }

  /// The mode in brackets, as in `always [madvise] never`; `never` on kernels without huge pages.
  static func hugePages() -> String {
    guard let modes = SmallFile.text(at: "/sys/kernel/mm/transparent_hugepage/enabled") else { return "never" }
    return modes.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("[") }
      .map { String($0.dropFirst().dropLast()) } ?? "never"
  }

  /// The loaded C library, such as `glibc 2.36` (confstr(3)).
  static func libc() -> String {
    let bytes = [UInt8](unsafeUninitializedCapacity: 64) { buffer, filled in
      let size = buffer.withMemoryRebound(to: CChar.self) {
        confstr(Int32(_CS_GNU_LIBC_VERSION), $0.baseAddress, $0.count)
      }
      filled = size > 0 && size <= buffer.count ? size - 1 : 0
    }
    return bytes.isEmpty ? "unknown" : String(decoding: bytes, as: UTF8.self)
  }

  /// The used swap space (`/proc/swaps`: KiB, after a header line); nil without swap.
  static func swapInUse() -> Bytes? {
    let areas = (SmallFile.text(at: "/proc/swaps") ?? "").split(separator: "\n").dropFirst()
    guard !areas.isEmpty else { return nil }
    let used = areas.map { $0.split(whereSeparator: \.isWhitespace) }.compactMap { $0.count > 3 ? Int64($0[3]) : nil }
    return .kibibytes(used.reduce(0, +))
  }

  /// Whether ASLR is enabled on the machine (`kernel.randomize_va_space`, proc_sys_kernel(5)).
  static var randomizesAddresses: Bool {
    SmallFile.text(at: "/proc/sys/kernel/randomize_va_space")?.first != "0"
  }
}

// MARK: - The target's variables

extension Machine {
  /// Whether a variable affects the allocator (mallopt(3), ld.so(8)).
  static func isAllocatorSetting(_ name: String) -> Bool {
    name.hasPrefix("MALLOC_") || name == "GLIBC_TUNABLES" || name == "LD_PRELOAD"
  }

  /// The image of a job: the hosted runners of GitHub and of Azure Pipelines, and GitLab (as documented by each, 2026-11).
  static let imageNames: Set = ["ImageOS", "ImageVersion", "CI_JOB_IMAGE"]

  /// The variables in which official Docker images name the version of what they are for (2026-11).
  static let toolchainNames: Set = [
    "DOTNET_VERSION", "GCC_VERSION", "GOLANG_VERSION", "JAVA_VERSION", "JULIA_VERSION", "NODE_VERSION", "OTP_VERSION",
    "PHP_VERSION", "PYTHON_VERSION", "RUBY_VERSION", "RUST_VERSION", "SWIFT_VERSION",
  ]

  /// The variables to which a condition applies, such as `GLIBC_TUNABLES=… MALLOC_ARENA_MAX=1`, sorted; long values are
  /// hashed.
  static func settings(in variables: [String: String], where isWanted: (String) -> Bool) -> String {
    variables.filter { isWanted($0.key) }.sorted { $0.key < $1.key }
      .map { name, value in
        let isLong = value.utf8.count > 60
        return "\(name)=\(isLong ? StableHash.hexadecimal(of: value) : value)"
      }
      .joined(separator: " ")
  }

  /// Variables that differ between machines or runs but do not affect memory.
  private static let unnamed: Set = ["HIGHWATER_MARKS", Orphans.runVariable, "PATH", "HOME", "TMPDIR"]

  /// Baselines contain the names, and no hash of a value, from which a secret could be guessed.
  private static func names(of variables: [String: String]) -> String {
    variables.keys.filter { !unnamed.contains($0) }.sorted().joined(separator: " ")
  }
}
