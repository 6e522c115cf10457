import CLinux
import GateCore
