/// The input of a supervisor, validated before the fork.
struct SupervisorPlan {
  /// Processes that run already, the leader first, to be followed instead of a program.
  var attached: [Int32] = []
  /// Whether the attached leader is killed where a program would be.
  var ownsAttached = false
  /// A path; `PATH` is not searched.
  var program: String
  var arguments: [String]
  /// Entries of the form `NAME=VALUE`.
  var environment: [String]
  var directory: String
  /// nil for `/dev/null`.
  var input: Int32?
  var output: Int32
  var fixesAddresses: Bool
  var preventsHugePages: Bool
  /// The mask for sched_setaffinity(2); empty if all CPUs may be used.
  var cpuMask: [UInt]
  /// How many CPUs the program sees; nil for those of the machine.
  var cpuCount: Int?
  /// The descriptor of the run folder's lock.
  var lock: Int32?
  var isTraced: Bool
  /// How much memory each program of a traced target is made to hold.
  var ballast: Int
  var cgroupFolders: [String]
  /// Folders of cgroups that exist already, which the program joins as well.
  var joinedFolders: [String]
  /// Alternating files and texts, written after the folders are created.
  var cgroupSettings: [String]
  /// Alternating files and texts, written before each round of kills.
  var beforeKilling: [String]
  /// The descriptor of a file that receives a copy of the mappings when a traced program exits.
  var mappings: Int32?
  /// The descriptor of a file that receives the memory profiles of a traced program.
  var profile: Int32?
  /// The descriptor of the file that the profiler's library writes samples to.
  var ring: Int32?
  /// The mean number of bytes between sampled allocations, at first.
  var samplingInterval: Int64
}
