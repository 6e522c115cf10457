extension Malformed {
  /// `ready` and the steps.
  static let scripts: [Malformed] = [
    Malformed(
      "two conditions in ready",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          ready: {tcp: 7001, log: up}
      """#,
      is: #"""
        highwater.yml:5:24: error: `ready` has `tcp`, `log`, but takes one of them only
        """#
    ),
    Malformed(
      "no condition in ready",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          ready: {within: 5s}
      """#,
      is: #"""
        highwater.yml:5:12: error: `ready` needs one of `log`, `tcp`, `unix`, `http`, `file`, `command`, `delay`
        """#
    ),
    Malformed(
      "a port out of range",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          ready: {tcp: 70000}
      """#,
      is: #"""
        highwater.yml:5:18: error: `70000` is neither a port nor `host:port`
          hint: a port is a number from 1 to 65535, such as `tcp: 7001` or `tcp: "[::1]:7001"`
        """#
    ),
    Malformed(
      "a broken regular expression",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          ready: {log: "([a"}
      """#,
      is: #"""
        highwater.yml:5:18: error: `([a` is not a regular expression: expected ']'
          hint: a character such as `(` or `[` that stands for itself is written `\(` or `\[`
        """#
    ),
    Malformed(
      "an address without a scheme",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          ready: {http: localhost:80}
      """#,
      is: #"""
        highwater.yml:5:19: error: `http` is not the address of a web server
          hint: it starts with `http://` or `https://` and a host, and has no blanks
        """#
    ),
    Malformed(
      "a step with two keys",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          steps:
            - mark: a
              wait: 1s
      """#,
      is: #"""
        highwater.yml:7:9: error: a step must have one key, not 2
          hint: each step starts with a `- ` of its own
        """#
    ),
    Malformed(
      "an unknown step",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          steps:
            - sleep: 1s
      """#,
      is: #"""
        highwater.yml:6:9: error: no step has the key `sleep`
          hint: its keys are `phase`, `run`, `http`, `send`, `expect`, `signal`, `wait`, `settle`, `mark`, `repeat`
        """#
    ),
    Malformed(
      "a step that is a word",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          steps: [settle]
      """#,
      is: #"""
        highwater.yml:5:13: error: a step must be a mapping, not `settle`
          hint: such as `- wait: 2s`
        """#
    ),
    Malformed(
      "send without a pipe",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1'], stdin: {text: x}}
          steps:
            - send: "quit\n"
      """#,
      is: #"""
        highwater.yml:6:9: error: `send` needs a target whose standard input is a pipe
          hint: write `stdin: pipe` in the `target`
        """#
    ),
    Malformed(
      "a repeat without times",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          steps:
            - repeat: {steps: [{mark: a}]}
      """#,
      is: #"""
        highwater.yml:6:17: error: a `repeat` step needs `times`
        """#
    ),
    Malformed(
      "too many turns",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          steps:
            - repeat: {times: 100000, steps: [{repeat: {times: 11, steps: [{mark: a}]}}]}
      """#,
      is: #"""
        highwater.yml:6:7: error: the steps take more than 1000000 turns in one repetition
        """#
    ),
    Malformed(
      "repeat in repeat, nine deep",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          steps:
            - {repeat: {times: 1, steps: [{repeat: {times: 1, steps: [{repeat: {times: 1, steps: [{repeat: {times: 1, steps: [{repeat: {times: 1, steps: [{repeat: {times: 1, steps: [{repeat: {times: 1, steps: [{repeat: {times: 1, steps: [{repeat: {times: 1, steps: [{mark: a}]}}]}}]}}]}}]}}]}}]}}]}}]}}
      """#,
      is: #"""
        highwater.yml:6:242: error: `repeat` is nested more than 8 deep
        """#
    ),
    Malformed(
      "a request with faults",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          steps:
            - http: {url: "http://:80/", method: post, expect: 99, headers: {"a b": c}}
            - http: {url: "http://h/", method: post, expect: 99, headers: {"a b": c, X: "${SET}"}}
      """#,
      is: #"""
        highwater.yml:6:21: error: `url` is not the address of a web server
          hint: it starts with `http://` or `https://` and a host, and has no blanks
        highwater.yml:7:42: error: `post` is not a method of HTTP
          hint: such as `GET`, `POST` or `DELETE`
        highwater.yml:7:56: error: `expect` must be a whole number from 100 to 599, not `99`
          hint: such as `expect: 200`
        highwater.yml:7:70: error: `a b` is not the name of a header
        highwater.yml:7:83: error: the header `X` must not hold control characters
        """#
    ),
    Malformed(
      "a variable of an address that is not set",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          steps:
            - http: {url: "http://h/?t=${TOKEN}"}
      """#,
      is: #"""
        highwater.yml:6:21: error: the environment variable `TOKEN` is not set, or is empty
          hint: set it where highwater runs
        """#
    ),
    Malformed(
      "a URL that is no URL, in ready",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          ready: {http: "http://user:pw@/x"}
      """#,
      is: #"""
        highwater.yml:5:19: error: `http` is not the address of a web server
          hint: it starts with `http://` or `https://` and a host, and has no blanks
        """#
    ),
    Malformed(
      "an unsound pattern with an escape sequence",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          ready: {log: "a\e[0m("}
      """#,
      is: #"""
        highwater.yml:5:18: error: `a\u{1b}[0m(` is not a regular expression: expected ']'
          hint: a character such as `(` or `[` that stands for itself is written `\(` or `\[`
        """#
    ),
    Malformed(
      "a header twice",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          steps:
            - http: {url: "http://h/", headers: {A: b, a: c}}
      """#,
      is: #"""
        highwater.yml:6:50: error: the header `a` is set twice
        """#
    ),
  ]
}
