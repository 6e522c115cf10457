import GateCore
