import ArgumentParser
import GateCore

@main
struct Highwater: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "highwater", version: Tool.version)
}
