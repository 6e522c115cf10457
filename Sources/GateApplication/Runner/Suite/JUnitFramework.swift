import GateCore

extension SuiteFramework {
  /// The JUnit Platform, for JUnit 5 and later and by its vintage engine JUnit 4, in all virtual machines that the command
  /// starts.
  static let junit = SuiteFramework(
    name: .junit,
    isRun: { words in words.prefix(1).hasProgram("mvn", "mvnw", "java") },
    method: .reported(
      ReportedTests(
        plugin: "libhighwater-junit.so",
        library: EmbeddedJUnitReporter.base64,
        // Each virtual machine prints which options it has picked up.
        isQuiet: false,
        variables: { folder, set in
          // Of two values of an option the last one counts: that of the user.
          let agent = "\"-agentpath:\(folder)/libhighwater-junit.so\""
          return ["JAVA_TOOL_OPTIONS": list(javaOptions, agent, set["JAVA_TOOL_OPTIONS"], by: " ")]
        },
        // The agent chooses, whatever starts the tests.
        selection: { words, _ in words })))

  /// Lets the heap begin small, since a test gets what is free in it for nothing; leaves out the optimizing compiler, whose
  /// threads take memory at times that no test controls; and lets tests run one after the other.
  private static let javaOptions =
    "-XX:InitialRAMPercentage=0.01 -XX:TieredStopAtLevel=1 -Djunit.jupiter.execution.parallel.enabled=false"
}
