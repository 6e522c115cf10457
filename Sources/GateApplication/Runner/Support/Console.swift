package import GateCore
import Glibc
import LinuxSystem
import Synchronization

/// The terminal or the files that replace it: data goes to standard output, messages go to standard error.
package final class Console: Sendable {
  /// How much is printed.
  package enum Volume: Sendable {
    case quiet, normal, verbose
  }

  /// When output is coloured.
  package enum Colour: String, Sendable, CaseIterable {
    case auto, always, never
  }

  private struct State {
    var hasProgressLine = false
    /// The progress where there is no terminal, and what notices that a repetition takes long.
    var log: ProgressLog
    var ticker: Ticker?
    /// The `errno` of the first write that failed.
    var outputError: CInt?
  }

  package let volume: Volume
  private let colour: Colour
  private let variables: [String: String]
  private let output: CInt
  private let errors: CInt
  private let state: Mutex<State>

  /// Writes to the two standard streams, or to the given open descriptors.
  package init(
    volume: Volume = .normal,
    colour: Colour = .auto,
    variables: [String: String],
    output: CInt = STDOUT_FILENO,
    errors: CInt = STDERR_FILENO
  ) {
    self.volume = volume
    self.colour = colour
    self.variables = variables
    self.output = output
    self.errors = errors
    state = Mutex(State(log: ProgressLog(folding: CIVariables(variables).system?.row.folding)))
  }

  /// The detail of a summary.
  var detail: SummaryContext.Detail {
    switch volume {
    case .quiet: .quiet
    case .normal: .normal
    case .verbose: .verbose
    }
  }

  /// The style for one of the two streams.
  func style(onOutput: Bool = true) -> TerminalStyle {
    let descriptor = onOutput ? output : errors
    return TerminalStyle(width: width(of: descriptor), colour: usesColour(descriptor))
  }

  /// `NO_COLOR` applies unless colour was requested by the option (no-color.org).
  private func usesColour(_ descriptor: CInt) -> Bool {
    switch colour {
    case .always: true
    case .never: false
    case .auto:
      isatty(descriptor) == 1 && variables["NO_COLOR", default: ""].isEmpty && variables["TERM"] != "dumb"
    }
  }

  private func width(of descriptor: CInt) -> Int {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 40 else { return 80 }
    return min(Int(size.ws_col), 200)
  }

  /// Writes data to standard output; a closed pipe is not an error, as for any filter.
  package func print(_ text: String) {
    clearProgress()
    write(text, to: output)
  }

  /// Writes a text report to standard output, or to standard error if the options write data to standard output.
  func report(besides options: SharedOptions, _ text: (TerminalStyle) -> String) {
    let report = text(style(onOutput: !options.isOutputTaken))
    if options.isOutputTaken { say(report) } else { print(report) }
  }

  /// Prints what became of baselines.
  func report(_ changes: [ApprovalChange]) {
    print(ApprovalReport.text(changes, style: style(), isQuiet: volume == .quiet))
  }

  /// As in `1 run` or `12 runs`.
  static func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }

  /// Prints a line on standard error, unless the console is quiet.
  package func say(_ text: String) {
    guard volume != .quiet else { return }
    clearProgress()
    write(TerminalText.withoutCommands(text) + "\n", to: errors)
  }

  /// Prints a warning, which may quote untrusted text, unless the console is quiet.
  func warn(_ text: String) {
    say("warning: " + TerminalText.safe(text))
  }

  /// Prints a note, which may quote untrusted text, unless the console is quiet.
  func note(_ text: String) {
    say("note: " + TerminalText.safe(text))
  }

  /// Prints an error on standard error, even if the console is quiet.
  package func printError(_ error: any DiagnosticError) {
    clearProgress()
    for line in error.diagnostics.flatMap({ $0.description.split(separator: "\n") }) {
      write(TerminalText.withoutCommands(TerminalText.safe(String(line))) + "\n", to: errors)
    }
  }

  /// Whether questions can be asked: the answers and the messages are on a terminal.
  var isInteractive: Bool { isatty(STDIN_FILENO) == 1 && isatty(errors) == 1 }

  /// Asks a question whose default is yes; false also after an interruption.
  func confirm(_ question: String, until interruption: Interruption) -> Bool {
    write("\(question) [Y/n] ", to: errors)
    var ready = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    // The signal is taken by another thread, and does not end this call.
    while poll(&ready, 1, 200) == 0 { if interruption.signal != nil { return false } }
    guard let answer = readLine() else { return false }
    return ["", "y", "yes"].contains(answer.lowercased())
  }

  /// Shows the progress of a run: on one line of a terminal, which is overwritten, or as lines of a log.
  func show(_ progress: Progress) {
    guard volume != .quiet else { return }
    guard isatty(errors) == 1, variables["TERM"] != "dumb" else { return log(progress) }
    write("\r\u{1b}[K" + ProgressReport.line(progress, style: style(onOutput: false)), to: errors)
    state.withLock { $0.hasProgressLine = true }
  }

  /// Ends the progress of a run; it may have been interrupted.
  func endProgress() {
    clearProgress()
    // Stopped without the lock, which a tick takes: so nothing is printed after the end.
    let ticker = state.withLock { state in
      defer { state.ticker = nil }
      return state.ticker
    }
    ticker?.stop()
    let text = state.withLock { $0.log.endText(seconds: time(nil)) }
    if !text.isEmpty { write(text, to: errors) }
  }

  private func log(_ progress: Progress) {
    let text = state.withLock { state in
      if state.ticker == nil { state.ticker = Ticker(every: .seconds(1)) { [weak self] in self?.logWaiting() } }
      return state.log.text(for: progress, at: .now, seconds: time(nil))
    }
    if !text.isEmpty { write(text, to: errors) }
  }

  private func logWaiting() {
    let text = state.withLock { $0.log.waitingText(at: .now) }
    if !text.isEmpty { write(text, to: errors) }
  }

  /// Copies a text to standard error unchanged.
  func pass(_ text: String) {
    clearProgress()
    write(text, to: errors)
  }

  /// Clears the progress line.
  func clearProgress() {
    let had = state.withLock { state in
      defer { state.hasProgressLine = false }
      return state.hasProgressLine
    }
    if had { write("\r\u{1b}[K", to: errors) }
  }

  private func write(_ text: String, to descriptor: CInt) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { bytes in retried { Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
      }
      let code = errno
      if written >= 0 {
        rest = rest.dropFirst(written)
      } else if code == EAGAIN {
        // The stream is in non-blocking mode.
        var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        if retried({ poll(&ready, 1, -1) }) < 0 { return }
      } else {
        if code != EPIPE { state.withLock { $0.outputError = $0.outputError ?? code } }
        return
      }
    }
  }

  /// Why output was lost, as on a full disk; nil if none was lost, or if a reader closed the pipe.
  package var outputFailure: RunnerError? {
    state.withLock { $0.outputError }.map { code in
      RunnerError(
        problem: "cannot write output: \(ErrorNumber(code).text)",
        hint: "check where standard output and standard error are redirected to"
      )
    }
  }
}
