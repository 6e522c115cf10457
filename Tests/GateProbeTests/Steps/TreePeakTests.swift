import GateCore
import Testing

@testable import GateProbe

@Suite("The program of a tree, and the tree's peak", .timeLimit(.minutes(60)), .enabled(if: Tool.exists("python3")))
struct TreePeakTests {
  let harness = ScenarioHarness()

  private static let mebibyte = 1_048_576.0

  /// A program that holds memory for a millisecond and ends.
  private func holding(_ mebibytes: Int) -> String {
    "python3 -S -c 'import time; x = b\"1\" * (\(mebibytes) << 20); time.sleep(0.001)'"
  }

  private func measured(_ line: String) throws -> (recording: Recording, metrics: [MetricName: Double]) {
    let recording = try harness.run(harness.scenario(line))
    #expect(recording.failure == nil, "\(recording.outputTail)")
    return (recording, recording.result().metrics)
  }

  @Test("The program behind a shell is the main process, and its peak counts for the tree", arguments: [20, 60])
  func wrapper(size: Int) throws {
    let (recording, metrics) = try measured("\(holding(size)); exit $?")
    let found = recording.processes.first { $0.isMain }
    let main = try #require(found)
    #expect(main.command.hasPrefix("python3") && main.isExact)
    let peak = try #require(metrics[.peakRSS])
    let tree = try #require(metrics[.treePeak])
    #expect(peak > Double(size) * Self.mebibyte)
    // The shell has less than a megabyte of its own.
    #expect(tree >= peak && tree < peak + Self.mebibyte, "\(tree) and \(peak)")
  }

  @Test("Of programs that run one after the other, the largest counts, not the sum")
  func inTurn() throws {
    let (_, metrics) = try measured("\(holding(20)); \(holding(40)); \(holding(10)); exit 0")
    let peak = try #require(metrics[.peakRSS])
    let tree = try #require(metrics[.treePeak])
    #expect(peak > 40 * Self.mebibyte && peak < 60 * Self.mebibyte)
    #expect(tree >= peak && tree < peak + Self.mebibyte, "\(tree) and \(peak)")
  }

  @Test("A process that leaves the cgroup counts for the tree", .enabled(if: TestCgroup.canCount))
  func outside() throws {
    let folder = try #require(CgroupMap.ofThisProcess.memoryFolders.first?.path)
    let script = """
      import os, time
      x = b"1" * (10 << 20)
      if os.fork() == 0:
          open("\(folder)/cgroup.procs", "w").write("0")
          os.execvp("python3", ["python3", "-S", "-c", "import time; y = b'2' * (50 << 20); time.sleep(0.5)"])
      os.wait()
      """
    let path = harness.testProcesses.file("leaves.py", script)
    let (_, metrics) = try measured("exec python3 -S \(path)")
    let tree = try #require(metrics[.treePeak])
    // Each interpreter has some 5 MiB besides.
    #expect(tree > 62 * Self.mebibyte && tree < 85 * Self.mebibyte, "\(tree)")
  }

  @Test("A process that is killed has its own name, not that of one of its threads")
  func threadNames() throws {
    let script = """
      import ctypes, subprocess, sys, threading, time
      def named():
          ctypes.CDLL(None).prctl(15, b"helper", 0, 0, 0)
          time.sleep(60)
      if len(sys.argv) > 1:
          x = b"1" * (40 << 20)
          for n in range(8): threading.Thread(target=named).start()
          time.sleep(0.3)
          print("up", flush=True)
          time.sleep(60)
      child = subprocess.Popen([sys.executable, "-S", __file__, "child"], stdout=subprocess.PIPE)
      child.stdout.readline()
      child.kill()
      child.wait()
      """
    let path = harness.testProcesses.file("threads.py", script)
    let (recording, _) = try measured("exec python3 -S \(path)")
    let main = try #require(recording.processes.first { $0.isMain })
    #expect(main.peak > .mebibytes(40) && main.command.hasPrefix("python"), "\(main.command)")
  }

  @Test("The memory of a forked copy counts by its growth")
  func copies() throws {
    let script = """
      import os, time
      x = b"1" * (40 << 20)
      for n in range(3):
          if os.fork() == 0:
              y = b"2" * (10 << 20)
              time.sleep(0.3)
              os._exit(0)
      for n in range(3): os.wait()
      """
    let path = harness.testProcesses.file("copies.py", script)
    let (_, metrics) = try measured("exec python3 -S \(path)")
    let tree = try #require(metrics[.treePeak])
    #expect(tree > 70 * Self.mebibyte && tree < 95 * Self.mebibyte, "\(tree)")
  }
}
