import GateCore
import LinuxSystem

extension Repetition {
  /// A container that this repetition has created.
  struct Container {
    /// The program that manages it.
    let engine: ContainerEngine
    let id: String
    /// Whether it is set up, and its program does not run yet.
    let isHeld: Bool
    /// The engine's client that has started it and prints its output; nil while it is held.
    var client: ProcessTree?

    func command(_ words: String...) -> Command { .arguments([engine.rawValue] + words + [id]) }
  }

  /// Creates a container, and sets it up as far as it can be without being missed: podman can hold its program back until it
  /// is traced, docker cannot.
  func prepareContainer(of image: ContainerImage, _ output: OutputChannel) throws(StepAborted) -> Container {
    try checkNotReadyYet()
    beginStart()
    var container = try created(from: image)
    if container.isHeld {
      try require(container.command("init"), exits: [0], within: scenario.timeout)
    } else {
      container.client = try start(container, output)
    }
    return container
  }

  private func created(from image: ContainerImage) throws(StepAborted) -> Container {
    let folder = try makeFolder()
    // The values stand in the engine's environment, and not in a command line that others can read.
    let names = Set(scenario.target.environment.keys)
      .union(scenario.target.inheritedEnvironment.filter { settings.environment[$0] != nil })
    let options = names.sorted().flatMap { ["--env", $0] } + image.options
    for engine in ContainerEngine.allCases {
      let words = [engine.rawValue, "create", "--rm", "--cidfile", folder.containerPath] + options + [image.name]
      do throws(StepAborted) {
        // It may have to be pulled.
        try require(.arguments(words + image.arguments), exits: [0], within: scenario.timeout)
      } catch .failed(.launch(let error), _) where error.stage == .search {
        continue
      }
      guard let id = createdContainer else { break }
      return Container(engine: engine, id: id, isHeld: engine == .podman && settings.method.isTraced)
    }
    throw .failed(.attach(error: .noTool(names: ContainerEngine.allCases.map(\.rawValue))))
  }

  /// The ID of the container that was created.
  private var createdContainer: String? {
    let id = folder.flatMap { SmallFile.text(at: $0.containerPath, atMost: 256) }
    return id.map { String($0.prefix { !$0.isWhitespace }) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Starts a container whose output goes to the channel.
  private func start(_ container: Container, _ output: OutputChannel) throws(StepAborted) -> ProcessTree {
    let client = try startHelper(container.command("start", "--attach"), output: output)
    backgroundTrees.append(client)
    return client
  }

  /// Lets the program of a held container begin; returns when it has.
  func startProgram(
    of container: Container, in processTree: ProcessTree, _ output: OutputChannel
  ) throws(StepAborted) {
    let before = ProgramImage(of: processTree.leader)
    let client = try start(container, output)
    let begun: Void? = try watch(
      until: .after(Self.toolTimeout), pause: .milliseconds(2), on: [client.reportDescriptor], of: nil
    ) { () throws(StepAborted) -> Void? in
      processTree.collect()
      if processTree.leaderEnding != nil || ProgramImage(of: processTree.leader) != before { return () }
      try checkStarting(client, output)
      return nil
    }
    guard begun != nil else { throw .failed(.attach(error: .containerNotRunning(name: container.id))) }
  }

  /// Fails if the client of a container that does not run yet has ended.
  func checkStarting(_ client: ProcessTree, _ output: OutputChannel) throws(StepAborted) {
    client.collect()
    guard let ending = client.leaderEnding else { return }
    listener.catchUp()
    throw .failed(.commandEnded(status: EndEvidence.Status(ending), expected: [0]), output: output.tail.text)
  }

  /// Removes what ``prepareContainer(of:_:)`` has created.
  ///
  /// Its engine also removes it at its end (`--rm`), so it may be gone.
  func removeContainer() {
    guard let id = createdContainer else { return }
    for engine in ContainerEngine.allCases {
      func answer(_ words: String...) -> TargetSearch<StepAborted>.ToolAnswer? {
        (try? self.answer(of: .arguments([engine.rawValue] + words + [id]), within: Self.toolTimeout)) ?? nil
      }
      guard let removal = answer("rm", "--force") else { continue }
      let isLeft = !removal.isSuccess && answer("container", "inspect")?.isSuccess == true
      if isLeft { notes.append(.containerLeft(id: id, answer: removal.output.lastLine)) }
      return
    }
  }
}
