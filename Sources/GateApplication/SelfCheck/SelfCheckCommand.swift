import ArgumentParser
import GateCore

struct SelfCheckCommand: UseCaseCommand {
  static let configuration = CommandConfiguration(
    commandName: "selfcheck",
    abstract: "Tests the gate itself: injects memory into the targets and fails if the gate does not notice.",
    usage: "highwater selfcheck [<options>] [<name> ...]",
    discussion: """
      Runs all scenarios, or those that are named, as they are, and then with a known amount of memory that the \
      target is made to hold, and judges them with their own gates. Baselines, history and the last result stay as \
      they are; nothing is sent. The kind `held` needs ptrace, the others a dynamically linked program.

        highwater selfcheck                  # memory held from the start
        highwater selfcheck --kind all       # and a leak, a spike, a worker's leak, …
        highwater selfcheck --inject 0       # nothing, so nothing may be found
        highwater selfcheck --inject 2MiB redis-load

      Exit codes: 0 if each gate found what was injected, 1 if one did not or found something else, 3 and 4 as in check.
      """
  )

  @Option(
    help: ArgumentHelp(
      "How much memory to inject: a share of the unchanged peak such as 5%, a size such as 2MiB, 0, or auto: 5% of the "
        + "peak, and at least twice what the gate allows.",
      valueName: "amount"))
  var inject = InjectedAmount.automatic

  @Option(
    help: ArgumentHelp(
      "The kind of regression: \(MutationOption.words.joined(separator: ", ")). May be repeated.", valueName: "kind"))
  var kind: [MutationOption] = []

  @OptionGroup var study: StudyOptions
  @OptionGroup var build: BuildOption
  @OptionGroup var console: ConsoleOptions

  func execute(in invocation: Invocation) throws -> GateCore.ExitCode {
    var selfCheck = SelfCheck()
    selfCheck.options = study.shared
    selfCheck.options.skipsBuild = build.noBuild
    selfCheck.selection = study.names
    selfCheck.amount = inject
    if !kind.isEmpty { selfCheck.mutations = Mutation.allCases.filter(kind.flatMap(\.mutations).contains) }
    return try selfCheck.run(in: invocation)
  }
}

extension InjectedAmount: ExpressibleByArgument {
  /// Parses the argument; nil for a text that is no amount.
  public init?(argument: String) {
    self.init(parsing: argument)
  }

  /// The default in the help.
  public var defaultValueDescription: String { "auto" }
}

/// A kind of regression, or all of them.
struct MutationOption: ExpressibleByArgument {
  let mutations: [Mutation]

  static let words = Mutation.allCases.map(\.rawValue) + ["all"]

  init?(argument: String) {
    guard Self.words.contains(argument) else { return nil }
    mutations = Mutation(rawValue: argument).map { [$0] } ?? Mutation.allCases
  }

  static var allValueStrings: [String] { words }
}
