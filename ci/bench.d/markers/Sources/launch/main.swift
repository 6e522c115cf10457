// The same small program with the whole library: marks and a launch record.

import Glibc
import MemoryMarkers

let launch = LaunchReason(appVersion: "1")
Marks.phase("load")
var names: [String: Int] = [:]
for number in 0..<1000 {
  names["the name of entry \(number % 500)"] = number
  Marks.iteration()
}
Marks.value("names", Double(names.count), unit: "entries")
launch.set(.active)
print("ready", names.count)
fflush(nil)
try? await Task.sleep(for: .seconds(3600))
