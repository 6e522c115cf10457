import GateCore
struct SamplingReport { var samples: [Sample] = []; var processes: [ProcessRecord] = []; var composition: Composition?; var widestGap = Duration.zero; var notes: [String] = [] }
final class Sampler: Sendable {
  let family: Family; let main: Target.MainProcess?
  init(family: Family, interval: Duration, main: Target.MainProcess?) { self.family = family; self.main = main }
  func start() {}
  func stop() -> SamplingReport { SamplingReport() }
  func takeComposition() {}
  func residentNow() -> Bytes? { mainProcess.flatMap { p in SmallFile.text(at: "/proc/\(p)/statm").flatMap { Int64($0.split(separator: " ")[1]) }.map { Bytes($0 * 4096) } } }
  func recent(_ count: Int) -> [Sample] { [] }
  var mainProcess: Int32? {
    switch main {
    case nil: family.leader
    case .pidfile(let p)?: SmallFile.text(at: p).flatMap { Int32($0.split { !$0.isNumber }.first ?? "") }.flatMap { family.isMember($0) ? $0 : nil }
    case .name(let p)?: family.members().first { $0.command.firstMatch(of: p.compiled()) != nil }?.pid
    }
  }
}
enum Machine { static func fingerprint(for s: Scenario, environment: [String: String]) -> Fingerprint { preconditionFailure("later") } }
