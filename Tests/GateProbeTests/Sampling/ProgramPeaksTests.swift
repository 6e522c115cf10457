import Testing

@testable import GateProbe

@Suite("The peaks of programs that were replaced by an exec")
struct ProgramPeaksTests {
  /// The peaks after programs that start at the first values and end at the second, and what remains unknown.
  private func ends(
    _ programs: [(start: Int64, end: Int64)],
    ofChildren: Int64 = 0,
    unknownChildren: Bool = false
  ) -> (known: [Int64?], unread: Int64) {
    var peaks = ProgramPeaks()
    if ofChildren != 0 { peaks.noteChild(ofChildren) }
    let known = programs.map { program in
      peaks.begin(at: program.start)
      return peaks.end(at: program.end, unknownChildren: unknownChildren)
    }
    return (known, peaks.unread)
  }

  @Test("A rise of the maximum is the peak of the program")
  func rise() {
    #expect(ends([(8, 21), (21, 30)]) == ([21, 30], 0))
  }

  @Test("Without a rise it is only a bound: the program before, or the process that started it, may have had as much")
  func bound() {
    #expect(ends([(8, 8)]) == ([nil], 8))
    #expect(ends([(8, 21), (21, 21)]) == ([21, nil], 21))
  }

  @Test("A rise that may be that of a child is only a bound")
  func children() {
    #expect(ends([(8, 21)], ofChildren: 21) == ([nil], 21))
    #expect(ends([(8, 22)], ofChildren: 21) == ([22], 0))
    #expect(ends([(8, 21)], unknownChildren: true) == ([nil], 21))
  }

  @Test("What a copy had is its own if it inherited less than half of it, and nothing if it inherited all")
  func copy() {
    func end(at highest: Int64) -> (Int64?, unread: Int64) {
      var peaks = ProgramPeaks()
      return (peaks.endCopy(at: highest, inherited: 20, error: 2), peaks.unread)
    }
    #expect(end(at: 22) == (nil, 0))
    #expect(end(at: 30) == (nil, 30))
    #expect(end(at: 50) == (50, 0))
  }

  @Test("Nothing is known before the first program, nor from a kernel that does not tell")
  func unknown() {
    var peaks = ProgramPeaks()
    #expect(peaks.end(at: 8, unknownChildren: false) == nil && peaks.unread == 0)
    #expect(ends([(0, 0)]) == ([nil], .max))
    #expect(ends([(8, 21)], ofChildren: -1) == ([nil], 21))
  }
}

private func == (lhs: (known: [Int64?], unread: Int64), rhs: ([Int64?], Int64)) -> Bool {
  lhs.known == rhs.0 && lhs.unread == rhs.1
}
