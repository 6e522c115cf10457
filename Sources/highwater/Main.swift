import ArgumentParser
import GateApplication
import GateCore
import Glibc
import LinuxSystem
import Synchronization

@main
enum Main {
  static func main() {
    occupyStandardStreams()
    // Writes to a closed pipe and beyond the file size limit then fail with an error, which is reported.
    for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
    ThisProcess.reportExhaustedMemory()
    let interruption = Interruption()
    do throws(ErrorNumber) {
      try SignalWatch.start(for: interruption)
    } catch {
      let problem = "cannot start a thread: \(error.text)"
      exit(fail(RunnerError(problem: problem, hint: "raise the limits of memory and processes (ulimit -v, ulimit -u)")))
    }
    exit(runWithLargeStack(interruption).rawValue)
  }

  /// Runs the command on another thread if the stack of this one is so small that the command may overflow it.
  private static func runWithLargeStack(_ interruption: Interruption) -> GateCore.ExitCode {
    let code = Mutex(GateCore.ExitCode.usage)
    guard hasSmallStack,
      let thread = try? PosixThread(
        named: Tool.name, running: { code.withLock { $0 = run(ThisProcess.arguments, interruption) } })
    else { return run(ThisProcess.arguments, interruption) }
    thread.join()
    return code.withLock { $0 }
  }

  /// Whether the limit of the stack is below 4 MiB: a check needs less than half of that (release build, 2026-11).
  private static var hasSmallStack: Bool {
    var limit = rlimit()
    return getrlimit(__rlimit_resource_t(RLIMIT_STACK.rawValue), &limit) == 0 && limit.rlim_cur < 4 << 20
  }

  private static func fail(_ error: RunnerError) -> CInt {
    Console(variables: [:]).printError(error)
    return GateCore.ExitCode.usage.rawValue
  }

  /// Opens `/dev/null` for closed standard streams; otherwise the next file that is opened would receive our output.
  private static func occupyStandardStreams() {
    for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) < 0 {
      // This is the lowest free number, since those below it are open.
      _ = open("/dev/null", O_RDWR)
    }
  }

  private static func run(_ arguments: [String], _ interruption: Interruption) -> GateCore.ExitCode {
    let variables = ProcessInput.environment
    let command: any ParsableCommand
    do {
      command = try Highwater.parseAsRoot(arguments)
    } catch {
      return report(error, arguments, variables)
    }
    guard let useCase = command as? any UseCaseCommand else { return help(from: command, variables) }
    let invocation = Invocation(
      workingDirectory: ProcessInput.workingDirectory,
      variables: variables,
      console: useCase.console.console(variables: variables),
      interruption: interruption
    )
    do {
      let code = try useCase.execute(in: invocation)
      guard let fault = invocation.console.outputFailure else { return code }
      invocation.console.printError(fault)
      return code == .pass ? .failed : code
    } catch let error as any DiagnosticError {
      invocation.console.printError(error)
    } catch {
      invocation.console.printError(RunnerError(problem: "\(error)"))
    }
    return invocation.interruptedCode ?? .usage
  }

  /// Arguments without a use case are a request for help: the program's name alone, and `help`; running it throws the
  /// text.
  private static func help(from command: any ParsableCommand, _ variables: [String: String]) -> GateCore.ExitCode {
    var command = command
    do {
      try command.run()
      return .pass
    } catch {
      return report(error, [], variables)
    }
  }

  /// Help and version are data; any other message of the parser is a usage error.
  private static func report(
    _ error: any Error, _ arguments: [String], _ variables: [String: String]
  ) -> GateCore.ExitCode {
    let message = Highwater.message(for: error, in: arguments)
    let console = Console(variables: variables)
    guard Highwater.exitCode(for: error) == .success else {
      console.say(message)
      return .usage
    }
    console.print(message + "\n")
    return .pass
  }
}
