import Glibc

/// libFuzzer's own `main` (LLVM, compiler-rt/lib/fuzzer/FuzzerDriver.cpp), which `ci/fuzz` links.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ read: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Reads inputs that libFuzzer makes: `fuzzer [OPTION…] [FOLDER…]`, with the target's name in `HIGHWATER_FUZZ_TARGET`;
/// without a name, prints all names, each with its golden files.
@main
enum Fuzzer {
  private static let target: FuzzTarget = {
    let name = getenv("HIGHWATER_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
      for target in FuzzTarget.all { print(([target.name] + target.examples).joined(separator: " ")) }
      exit(name.isEmpty ? 0 : 2)
    }
    return target
  }()

  static func main() {
    var (count, arguments) = (CommandLine.argc, CommandLine.unsafeArgv)
    signal(SIGPIPE, SIG_IGN)
    _ = target
    exit(runDriver(&count, &arguments) { Fuzzer.read(UnsafeBufferPointer(start: $0, count: $1)) })
  }

  private static func read(_ input: UnsafeBufferPointer<UInt8>) -> CInt {
    do {
      try target.read(Array(input))
      return 0
    } catch {
      fatalError("\(target): \(error)")
    }
  }
}
