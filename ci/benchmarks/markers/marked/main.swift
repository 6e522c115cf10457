// The same small program with marks.

import Glibc
import MemoryMarkers

Marks.phase("load")
Marks.iteration()
Marks.value("queue.depth", 17, unit: "items")
_ = write(STDOUT_FILENO, "ready\n", 6)
pause()
