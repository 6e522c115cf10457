import FoundationEssentials
import GateCore
import LinuxSystem
import HTTPTransfer

/// Delivers messages to webhooks, and stores those that it cannot deliver in a folder, the outbox.
///
/// Each new message is written to the outbox before its first attempt and removed after its delivery, so that it
/// survives if the run is killed in between.
///
/// The time is shared so that a webhook that does not answer cannot use up the others' time: queued messages get at
/// most `queuedShare` of it while there are new ones, divided equally among their webhooks; new messages divide the
/// rest equally, and pass on unused time to the next. After an error that would also affect the other messages of a
/// webhook, its remaining queued messages are not tried, and its new ones get one attempt each.
struct WebhookSender: Sendable {
  private let folder: String
  private let project: String
  private let tracked: @Sendable ([String]) -> Set<String>
  private let policy: DeliveryPolicy
  private let trust: HTTPTrust
  private let clock: DeliveryClock
  private let interruption: Interruption

  /// Creates a sender; the outbox folder is created when there is a message to store.
  ///
  /// `project` is the project's name, since the messages of another one are not sent, and `tracked` finds the names of files
  /// in the outbox that git tracks.
  init(
    outbox folder: String,
    of project: String,
    tracked: @escaping @Sendable ([String]) -> Set<String>,
    policy: DeliveryPolicy = DeliveryPolicy(),
    trust: HTTPTrust = .fromEnvironment,
    clock: DeliveryClock = DeliveryClock(),
    interruption: Interruption
  ) {
    (self.folder, self.project, self.tracked) = (folder, project, tracked)
    self.policy = policy
    self.trust = trust
    self.clock = clock
    self.interruption = interruption
  }

  /// Delivers the messages in the outbox, oldest first, and then the new ones.
  ///
  /// Takes about as long as the policy allows at most; after an interruption it only stores the messages. While another
  /// process delivers from the same outbox, only the new messages are sent.
  ///
  /// - Parameters:
  ///   - messages: The new messages.
  ///   - webhooks: The webhooks of the project file, in file order.
  /// - Returns: One report for each message, queued ones first; the queued messages of one webhook that were not tried
  ///   share a report.
  func deliver(_ messages: [OutgoingMessage], webhooks: [Webhook]) -> [DeliveryReport] {
    let opened = Result { () throws(OutboxError) in
      try messages.isEmpty ? Outbox(folder: folder) : Outbox(creating: folder)
    }
    let outbox = try? opened.get()
    let contents = outbox.flatMap { $0.lock() ? $0.readContents(tracked: tracked) : nil } ?? Outbox.Contents()
    let files = messages.map { message in
      opened.flatMap { outbox in
        Result { () throws(OutboxError) in try outbox.add(message, of: project, at: Date.now.inFileYears) }
      }
    }
    var run = DeliveryRun(
      attempts: DeliveryAttempts(policy: policy, trust: trust, clock: clock, interruption: interruption),
      policy: policy, clock: clock, of: project, webhooks: webhooks
    )
    if let outbox {
      run.deliver(contents, of: outbox, to: webhooks, beforeNewMessages: !messages.isEmpty)
    }
    for (index, message) in messages.enumerated() {
      run.deliver(message, storedAs: files[index], in: outbox, remaining: messages.count - index)
    }
    return run.reports
  }
}
