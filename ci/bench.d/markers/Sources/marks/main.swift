// The same small program with marks only.

import Glibc
import MemoryMarkers

Marks.phase("load")
var names: [String: Int] = [:]
for number in 0..<1000 {
  names["the name of entry \(number % 500)"] = number
  Marks.iteration()
}
Marks.value("names", Double(names.count), unit: "entries")
print("ready", names.count)
fflush(nil)
try? await Task.sleep(for: .seconds(3600))
