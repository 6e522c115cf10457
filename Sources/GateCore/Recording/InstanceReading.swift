/// The living instances of Swift classes in one repetition.
package struct InstanceReading: Sendable, Equatable {
  /// The highest number at a mark, a phase, or the end, by the full name of the class.
  package var highest: [String: Int]
  /// Why nothing was counted; nil if something was.
  package var refusal: InstanceRefusal?

  package init(highest: [String: Int] = [:], refusal: InstanceRefusal? = nil) {
    self.highest = highest
    self.refusal = refusal
  }
}

/// Why instances were not counted.
package enum InstanceRefusal: String, Sendable, Codable, CaseIterable {
  /// No process loaded the library: none is a Swift program with a dynamic linker.
  case notLoaded
  /// A Swift program has its runtime linked statically, and no symbols.
  case noSymbols
  /// The runtime has other machine code than is known.
  case unknownCode
  /// The system does not allow code or tables to be changed.
  case protectedMemory
  /// The library did not count an object that it allocated as a test.
  case failedSelfTest
  /// The target had more processes than are read.
  case tooManyProcesses
  /// A repetition with the library failed.
  case failedRepetition
}
