import FoundationEssentials
import GateCore
import Glibc
import LinuxSystem

/// The samplers of collected heaps, each of which its runtime loads by a variable, and the folder that they write to.
struct HeapSamplers {
  private let interval: Bytes
  private let folder: String

  /// Shorter distances between samples make V8 slower by more than a tenth.
  private static let shortestInterval = Bytes.kibibytes(16)

  /// Lets V8 name its code in `/tmp/perf-PID.map`, for what JavaScript allocates outside of V8's heap.
  private static let nodeNames = "--perf-basic-prof --interpreted-frames-native-stack"

  /// Lets Go collect when its heap has grown by a quarter: of what is not freed nobody knows what is garbage.
  private static let goGarbage = "25"

  /// Writes the samplers, and a folder in which the processes of the target create files.
  init(interval: Bytes, in folder: String) throws(SystemFailure) {
    (self.interval, self.folder) = (max(interval, Self.shortestInterval), folder)
    PreloadedLibrary.makeFolder(at: Self.logs(in: folder))
    try PreloadedLibrary.write(
      Array((EmbeddedText.named("node.cjs") ?? "").utf8), to: Self.nodeSampler(in: folder))
    try PreloadedLibrary.write(base64: EmbeddedJavaSampler.base64, to: Self.javaSampler(in: folder))
  }

  private static func logs(in folder: String) -> String { "\(folder)/heaps" }

  private static func nodeSampler(in folder: String) -> String { "\(folder)/highwater-heap.cjs" }

  private static func javaSampler(in folder: String) -> String { "\(folder)/libhighwater-java.so" }

  /// Adds the variables of the samplers to those that the target has.
  func add(to environment: inout [String: String]) {
    environment["HIGHWATER_HEAPS"] = "\(interval.count):\(Self.logs(in: folder))"
    let options = [
      "NODE_OPTIONS": "\(Self.nodeNames) --require \"\(Self.nodeSampler(in: folder))\"",
      "JAVA_TOOL_OPTIONS": "\"-agentpath:\(Self.javaSampler(in: folder))\"",
    ]
    if environment["GOGC"] == nil { environment["GOGC"] = Self.goGarbage }
    for (name, value) in options { environment[name] = environment[name].map { "\($0) \(value)" } ?? value }
  }

  private var request: String { "\(Self.logs(in: folder))/now" }

  /// Asks the samplers of all living processes to write what their heaps hold now.
  func askForAll() {
    _ = try? Descriptor.file(request, O_WRONLY | O_CREAT, mode: 0o644)
  }

  /// Whether all that sample in a living process have answered since ``askForAll()``: `PROCESS.THREAD.running` by
  /// `PROCESS.THREAD.done`.
  var haveAnswered: Bool {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: Self.logs(in: folder))) ?? []
    let answered = Set(names)
    return names.allSatisfy { name in
      let parts = name.split(separator: ".")
      guard parts.count == 3, parts[2] == "running", let process = Int32(parts[0]) else { return true }
      return answered.contains("\(parts[0]).\(parts[1]).done") || kill(process, 0) != 0 && errno == ESRCH
    }
  }

  /// What the samplers wrote, once the target has ended.
  var logs: HeapLogs { HeapLogs(in: Self.logs(in: folder)) }

  /// Removes what ``init(interval:in:)`` and the target created, if anything.
  static func removeFiles(in folder: String) {
    let logs = logs(in: folder)
    for name in (try? FileManager.default.contentsOfDirectory(atPath: logs)) ?? [] {
      if let process = name.split(separator: ".").first.flatMap({ Int32($0) }) {
        unlink("/tmp/perf-\(process).map".systemText)
      }
      unlink("\(logs)/\(name)".systemText)
    }
    rmdir(logs.systemText)
    for sampler in [nodeSampler(in: folder), javaSampler(in: folder)] { unlink(sampler.systemText) }
  }
}
