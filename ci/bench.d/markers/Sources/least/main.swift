// A program that uses no strings, for comparison: it waits.

import Glibc

var line: (UInt8, UInt8) = (0x2e, 0x0a)
_ = write(STDOUT_FILENO, &line, 2)
while true { pause() }
