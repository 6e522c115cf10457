extension Malformed {
  /// The target.
  static let targets: [Malformed] = [
    Malformed(
      "a command as a text",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: redis-server --port 7001}
      """#,
      is: #"""
        highwater.yml:4:23: error: `command` must be a list of words, not `redis-server --port 7001`
          hint: such as `command: [sleep, 1]`; a line for the shell is `shell: "…"`
        """#
    ),
    Malformed(
      "a command and a shell",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep], shell: sleep 1}
      """#,
      is: #"""
        highwater.yml:4:32: error: a target has `command`, `shell`, but takes one of them only
        """#
    ),
    Malformed(
      "an empty command",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: []}
      """#,
      is: #"""
        highwater.yml:4:23: error: `command` names no program
          hint: such as `command: [sleep, 1]`
        """#
    ),
    Malformed(
      "a missing word",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, ~]}
      """#,
      is: #"""
        highwater.yml:4:31: error: a word of `command` is missing
          hint: write "" for an empty word
        """#
    ),
    Malformed(
      "neither command nor shell",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {cwd: .}
      """#,
      is: #"""
        highwater.yml:4:13: error: a target needs one of `command`, `shell`
        """#
    ),
    Malformed(
      "an unknown input",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {shell: cat, stdin: inherit}
      """#,
      is: #"""
        highwater.yml:4:33: error: `stdin` must be `null`, `pipe`, `{file: path}` or `{text: "…"}`, not `inherit`
          hint: such as `stdin: pipe`
        """#
    ),
    Malformed(
      "a variable without a value",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {shell: env, env: {A: , B: [1]}}
      """#,
      is: #"""
        highwater.yml:4:32: error: the variable `A` has no value
          hint: write "" for an empty one
        highwater.yml:4:40: error: `B` must be a text, not a list
          hint: such as `B: text`
        """#
    ),
    Malformed(
      "a variable that is ours",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {shell: env, inherit-env: [HIGHWATER_MARKS, A=B]}
      """#,
      is: #"""
        highwater.yml:4:40: error: `HIGHWATER_MARKS` is set by highwater itself
          hint: remove it
        highwater.yml:4:57: error: `A=B` is not the name of a variable
          hint: a name has no `=` and no control characters, such as `JAVA_HOME`
        """#
    ),
    Malformed(
      "two ways to find the main process",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {shell: d, main: {pidfile: a, name: b}}
      """#,
      is: #"""
        highwater.yml:4:43: error: `main` has `pidfile`, `name`, but takes one of them only
        """#
    ),
    Malformed(
      "a NUL in an argument",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: ["a\0b"]}
      """#,
      is: #"""
        highwater.yml:4:24: error: `command` must not hold the character U+0
        """#
    ),
    Malformed(
      "stdin from two sources",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {shell: cat, stdin: {file: a, text: b}}
      """#,
      is: #"""
        highwater.yml:4:43: error: `stdin` has `file`, `text`, but takes one of them only
        """#
    ),
    Malformed(
      "a setup that is one text",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          setup: mkdir run
      """#,
      is: #"""
        highwater.yml:5:12: error: `setup` must be a list, not `mkdir run`
          hint: such as `setup: [[mkdir, -p, run]]`
        """#
    ),
    Malformed(
      "an empty shell line",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          teardown: ["  ", []]
      """#,
      is: #"""
        highwater.yml:5:16: error: `teardown` must not be empty
          hint: such as `teardown: sleep 1`
        highwater.yml:5:22: error: `teardown` names no program
          hint: such as `teardown: [sleep, 1]`
        """#
    ),
  ]
}
