/// All that a supervisor needs to start its program, checked and ready before the fork.
struct SupervisorPlan {
  /// A path; nothing is searched.
  var program: String
  var arguments: [String]
  /// As in `NAME=VALUE`.
  var environment: [String]
  var directory: String
  /// nil is `/dev/null`.
  var input: Int32?
  var output: Int32
  var fixesAddresses: Bool
  var preventsHugePages: Bool
  /// The bits that sched_setaffinity(2) takes; empty where every CPU may be used.
  var cpuMask: [UInt]
  /// A file and its folder that the supervisor removes should the runner die before it can.
  var scratchFile: String?
  var scratchFolder: String?
  var isTraced: Bool
  var cgroupFolders: [String]
  /// Files and texts by turns, written once the folders are made.
  var cgroupSettings: [String]
  /// Files and texts by turns, written before each round of killing.
  var beforeKilling: [String]
  /// The descriptor of a file that takes a copy of the program's mappings at its end, where it is traced.
  var mappings: Int32?
}
