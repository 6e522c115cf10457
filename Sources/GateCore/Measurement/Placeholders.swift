package typealias RecordingNote = String
package typealias MachineNote = String
extension Failure { package var isInconclusive: Bool { false } }
