import GateCore

extension SuiteFramework {
  /// `swift test`, for Swift Testing and XCTest: the bundle of tests is built once and then run for each test.
  static let swift = SuiteFramework(
    name: .swift,
    isRun: { words in words.prefix(1).hasProgram("swift") && words.dropFirst().first == "test" },
    method: .listed(
      ListedTests(
        discovery: { words, wrapper in
          .init(words: ["/bin/sh", "-c", buildScript, "sh", wrapper, words[0]] + words.dropFirst(2))
        },
        listings: { _ in [["--list-tests"]] },
        tests: { output, program in
          // text from outside: the lists of Swift Testing and XCTest, as in `AppTests.CacheTests/isEmpty()`
          let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
          let isSwiftTesting = program.words.contains(swiftTesting)
          // A test of Swift Testing need not be in a type.
          let names = lines.filter { line in
            line.contains(".") && !line.contains(" ") && (line.contains("/") || isSwiftTesting && line.hasSuffix(")"))
          }
          return program.tests(names) { isSwiftTesting ? ["--filter", "^\(escaped($0))(/|$)"] : [$0] }
        }, listingExits: [0, noSwiftTesting]))
  )

  private static let swiftTesting = "swift-testing"
  /// The exit code of Swift Testing without a test of its own (`EX_UNAVAILABLE`).
  private static let noSwiftTesting = 69

  /// Builds the tests, and writes the bundle once for each library to the log of programs (``TestPrograms``).
  private static let buildScript = """
    log=${1%/*}/programs swift=$2 valued=
    shift 2
    for option; do
      shift
      case $valued in
      --num-workers) valued= && continue ;;
      --package-path) cd "$option" && valued= && continue || exit ;;
      esac
      case $option in
      --filter* | --skip* | -s | --specifier)
        echo "highwater: '$option' chooses tests, and a suite runs all of them: remove it" >&2
        exit 2 ;;
      --num-workers | --package-path) valued=$option ;;
      --package-path=*) cd "${option#*=}" || exit ;;
      --parallel | --no-parallel | --num-workers=*) ;;
      *) set -- "$@" "$option" ;;
      esac
    done
    "$swift" build --build-tests "$@" || exit
    for bundle in "$("$swift" build --show-bin-path "$@")"/*.xctest; do
      printf '%s\\0' "$PWD" "$bundle" --testing-library \(swiftTesting) '' "$PWD" "$bundle" '' >>"$log"
    done
    """

  /// The text as a regular expression for itself.
  private static func escaped(_ text: String) -> String {
    text.map { $0.isLetter || $0.isNumber || "_/: ".contains($0) ? "\($0)" : "\\\($0)" }.joined()
  }
}
