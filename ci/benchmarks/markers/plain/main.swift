// A small program without the library, whose memory the others are held against.

import Glibc

_ = write(STDOUT_FILENO, "ready\n", 6)
pause()
