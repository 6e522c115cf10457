// The same small program with marks and, where a folder is given, a record of its launch.

import Glibc
import MemoryMarkers

let folder = CommandLine.arguments.dropFirst().first
let launch = folder.map { LaunchReason(store: FileRunStore(folder: $0), appVersion: "1") }
Marks.phase("load")
var names: [String: Int] = [:]
for number in 0..<1000 {
  names["name \(number)"] = number
  Marks.iteration()
}
Marks.value("names", Double(names.count), unit: "entries")
launch?.set(.active)
print("ready", names.count)
fflush(nil)
try? await Task.sleep(for: .seconds(3600))
