import CMemoryMarkers
import GateCore
import Glibc
import LinuxSystem
import MarkerProtocol
import Synchronization

@testable import GateApplication
@testable import GateProbe

extension FuzzTarget {
  /// What a target writes to `HIGHWATER_MARKS`; the size of the chunks in which it is read must not matter.
  static let marks = FuzzTarget("marks") { input in
    let whole = messages(in: input, chunk: max(1, input.count))
    try promise(messages(in: input, chunk: 3) == whole, "the chunks change the messages")
    let lines = input.count { $0 == 0x0a } + (input.last.map { $0 != 0x0a } == true ? 1 : 0)
    try promise(whole.messages.count + whole.unknown == lines, "a line is neither a message nor unknown")
    for case .value(_, let number, _) in whole.messages { try promise(number.isFinite, "a value is not finite") }
    try expectMeasurable(input)
  }

  private struct Messages: Equatable {
    var messages: [MarkerMessage] = []
    var unknown = 0
  }

  private static func messages(in bytes: [UInt8], chunk: Int) -> Messages {
    var (reader, found) = (MarkerReader(), Messages())
    for start in stride(from: 0, to: bytes.count, by: chunk) {
      reader.read(bytes[start..<min(start + chunk, bytes.count)]) { found.messages.append($0) }
    }
    reader.finish()
    found.unknown = reader.unknownLines
    return found
  }

  /// Measures a repetition with these marks, by which only marks become values.
  private static func expectMeasurable(_ input: [UInt8]) throws {
    let count = Atomic(0)
    let list = MarkList { _ in
      let number = Int64(count.add(1, ordering: .relaxed).newValue)
      let level = Bytes(number * 4096)
      return Sampler.Level(
        time: .milliseconds(number), process: 7, resident: level, tree: level,
        peakBefore: number % 3 == 0 ? level : nil)
    }
    for start in stride(from: 0, to: input.count, by: 64) { list.read(input[start..<min(start + 64, input.count)]) }
    let end = Duration.milliseconds(40)
    let marks = list.finish(at: end)
    let recording = Recording(
      samples: (0..<40).map { .steady(at: .milliseconds($0)) }, marks: marks.marks, end: End(.exited, code: 0),
      duration: end, unknownMarks: marks.unknownLines, notes: [marks.note].compactMap(\.self))
    _ = try RecordingCheck.result(of: recording)
  }

  /// A name, a unit and a number for the C functions, whose lines must all be understood.
  static let marksInC = FuzzTarget("marks-in-c") { input in
    let received = ReceivedBytes(from: marksFIFO)
    // Read meanwhile: a phase waits until then.
    let reader = try PosixThread(named: "reader") { received.read() }
    let sent = send(input)
    received.isComplete.store(true, ordering: .releasing)
    reader.join()
    let found = messages(in: received.bytes.withLock { $0 }, chunk: 8192)
    try promise(found.unknown == 0 && found.messages.count == sent, "a line of the C functions is not understood")
  }

  /// The FIFO to which the C functions of this process write.
  private static let marksFIFO: CInt = {
    let path = Scratch.path("marks")
    mkfifo(path, 0o600)
    setenv("HIGHWATER_MARKS", path, 1)
    precondition(hw_mark_is_connected() != 0, "nothing in this process has used marks before")
    unsetenv("HIGHWATER_MARKS")
    return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
  }()

  /// Returns how many messages were sent.
  private static func send(_ input: [UInt8]) -> Int {
    let parts = input.parts(3)
    var number = 0.0
    withUnsafeMutableBytes(of: &number) { $0.copyBytes(from: parts[2].prefix(8)) }
    withText(parts[0]) { name in
      hw_mark_phase_text(name)
      hw_mark_named_text(name)
      withText(parts[1]) { hw_mark_value_text(name, number, $0) }
    }
    hw_mark_iteration()
    return number.isFinite ? 4 : 3
  }

  /// Copies the bytes, so that reading past their end is noticed.
  private static func withText(_ bytes: ArraySlice<UInt8>, _ body: (hw_mark_text) -> Void) {
    let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
    defer { copy.deallocate() }
    _ = copy.initialize(from: bytes.map { CChar(bitPattern: $0) })
    if let start = copy.baseAddress { body(hw_mark_text(bytes: start, length: copy.count)) }
  }
}

/// What is read from a FIFO on another thread.
private final class ReceivedBytes: Sendable {
  let bytes = Mutex<[UInt8]>([])
  /// Whether nothing is written any more.
  let isComplete = Atomic(false)
  private let fifo: CInt

  init(from fifo: CInt) {
    self.fifo = fifo
  }

  func read() {
    var buffer = [UInt8](repeating: 0, count: 8192)
    while true {
      let isLast = isComplete.load(ordering: .acquiring)
      let count = max(0, Glibc.read(fifo, &buffer, buffer.count))
      bytes.withLock { $0 += buffer[..<count] }
      if isLast { return }
      if count == 0 { Polling.wait(toRead: [fifo], atMost: .milliseconds(1)) }
    }
  }
}
