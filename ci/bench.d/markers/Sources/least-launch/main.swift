// The same program with a recorded launch: the library brings along what other programs have already.

import Glibc
import MemoryMarkers

let launch = LaunchReason(appVersion: "1")
var line: (UInt8, UInt8) = (0x2e, 0x0a)
_ = write(STDOUT_FILENO, &line, 2)
while true { pause() }
