import FoundationEssentials
import GateCore

/// Result files of asv (airspeed velocity), of versions 1 and 2: `results/MACHINE/COMMIT-ENVIRONMENT.json`.
enum AsvResults {
  /// The folder also has what is known of machines and benchmarks.
  static func isResult(_ name: String) -> Bool {
    name.hasSuffix(".json") && name != "machine.json" && name != "benchmarks.json"
  }

  /// The peaks of its benchmarks of peak memory; empty if it has none.
  static func runs(_ bytes: [UInt8], path: String) throws(FileError) -> [RunSummary] {
    let hint = "name the folder `results` of asv, or a file of it"
    let document = try JSON.decodeForeign(bytes, path: path, hint: hint)
    guard let results = document["results"]?.object, let commit = document["commit_hash"]?.text,
      let date = document["date"]?.number
    else { throw FileError(code: .wrongSchema, path: path, problem: "is not a result of asv", hint: hint) }
    let columns = (document["result_columns"]?.list ?? []).map { $0.text ?? "" }
    let peaks = results.filter { isPeak($0.key) }.sorted { $0.key < $1.key }.flatMap { name, value in
      Self.peaks(of: name, value, columns)
    }
    guard !peaks.isEmpty else { return [] }
    let machine = document["params"]
    func known(_ key: String) -> String { machine?[key]?.text ?? "" }
    let run = ForeignRun(
      tool: .asv, environment: [known("machine"), document["env_name"]?.text ?? document["python"]?.text ?? ""],
      startedAt: Date(timeIntervalSince1970: date / 1000), commit: commit, architecture: known("arch"),
      cpus: Int(known("num_cpu")) ?? 1, kernel: known("os"), peaks: peaks)
    return [run.summary]
  }

  /// asv tells the kind of a benchmark by its name.
  private static func isPeak(_ name: String) -> Bool {
    let last = name.split(separator: ".").last ?? ""
    return last.hasPrefix("peakmem_") || last.hasPrefix("Peakmem")  // text from outside: asv
  }

  private static func peaks(
    of name: String, _ value: JSONValue, _ columns: [String]
  ) -> [(name: String, bytes: Double)] {
    var (result, parameters): (JSONValue?, JSONValue?)
    switch value {
    case .object(let fields): (result, parameters) = (fields["result"], fields["params"])
    case .list(let row):
      func cell(_ column: String) -> JSONValue? {
        columns.firstIndex(of: column).flatMap { row.indices.contains($0) ? row[$0] : nil }
      }
      (result, parameters) = (cell("result"), cell("params"))
    default: result = value
    }
    let values = result?.list ?? [result ?? .null]
    let names = combinations((parameters?.list ?? []).map { ($0.list ?? []).map { $0.text ?? "" } })
    return zip(values, names.isEmpty ? [""] : names).compactMap { value, parameters in
      value.number.map { (parameters.isEmpty ? name : "\(name)[\(parameters)]", $0) }
    }
  }

  /// A benchmark has more combinations only by mistake.
  private static let mostCombinations = 10_000

  /// The values of all parameters, of which the last changes fastest.
  private static func combinations(_ parameters: [[String]]) -> [String] {
    parameters.reduce([]) { names, values in
      guard !names.isEmpty else { return values }
      return Array(names.lazy.flatMap { name in values.map { "\(name),\($0)" } }.prefix(mostCombinations))
    }
  }
}
