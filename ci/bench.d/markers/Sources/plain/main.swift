// A small program without the library, for comparison: it fills a dictionary, prints, and waits in a task.

import Glibc

var names: [String: Int] = [:]
for number in 0..<1000 { names["the name of entry \(number % 500)"] = number }
print("ready", names.count)
fflush(nil)
try? await Task.sleep(for: .seconds(3600))
