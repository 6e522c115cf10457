import Foundation
import Testing

@Suite("Bytes that are not UTF-8", .endsHangs)
struct NonUTF8Tests {
  /// Runs a script of bash, for which `gate` is the program.
  private func run(_ script: String, in project: TemporaryProject) throws -> [String] {
    let words = ["-c", "gate() { \"\(Highwater.binary)\" \"$@\"; }\n\(script)"]
    let outcome = try Highwater.Running(words, in: project, variables: [:], program: "/bin/bash").wait()
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    return outcome.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
  }

  @Test("They reach a target unchanged in arguments, variables, its own path and its folder")
  func recorded() throws {
    let project = try TemporaryProject()
    let lines = try run(
      #"""
      dump() { gate record --show-output -- "$@" 2>&1 | head -1; }
      dump sh -c 'printf %s "$1" | od -An -tx1' x $'a\xff\xf4\x8f\xbf\xbfb'
      LATIN=$'\xfe\xff' dump sh -c 'printf %s "$LATIN" | od -An -tx1'
      printf '#!/bin/sh\nprintf %%s "${0##*/}" | od -An -tx1\n' > $'p\xff'
      chmod +x $'p\xff'
      dump $'./p\xff'
      PATH=$PWD:$PATH dump $'p\xff'
      mkdir $'f\xff'
      cd $'f\xff'
      dump sh -c 'printf %s "$(basename "$PWD")" | od -An -tx1'
      """#, in: project)
    #expect(lines == ["61 ff f4 8f bf bf 62", "fe ff", "70 ff", "70 ff", "66 ff"])
  }

  @Test("A project in such a folder is measured, approved and stored in its history")
  func project() throws {
    let project = try TemporaryProject()
    let lines = try run(
      #"""
      mkdir -p $'f\xff/.git' && cd $'f\xff'
      cat > highwater.yml <<'END'
      version: 1
      scenarios:
      - {name: a, warmup: 0, target: {shell: "basename \"$PWD\" > own; sleep 0.1"}, gate: {peak_rss: 50%}}
      END
      gate check --no-notify --quiet > /dev/null; echo $?
      gate approve > /dev/null; echo $?
      mkdir -p sub && cd sub
      gate check --no-notify > report; echo $?
      grep -o 'f\\xff' report | head -1
      gate history export | wc -l
      cd .. && od -An -tx1 < own
      test -s .highwater/history.sqlite; echo $?
      """#, in: project)
    #expect(lines == ["5", "0", "0", "f\\xff", "2", "66 ff 0a", "0"], "\(lines)")
  }
}
