extension Malformed {
  /// What a scenario says of itself, and its times.
  static let scenarios: [Malformed] = [
    Malformed(
      "no target",
      #"""
      version: 1
      scenarios:
        - name: load
          warmup: 1
      """#,
      is: #"""
        highwater.yml:3:5: error: a scenario needs a `target`
          hint: such as `target: {command: [sleep, 1]}`
        """#
    ),
    Malformed(
      "no name",
      #"""
      version: 1
      scenarios:
        - target: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:3:5: error: a scenario has no `name`
          hint: such as `name: load`
        """#
    ),
    Malformed(
      "a name that leads out",
      #"""
      version: 1
      scenarios:
        - name: ../../x
          target: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:3:11: error: `../../x` is not a name
          hint: a name is a letter or digit, then at most 99 of A-Z a-z 0-9 . _ -
        """#
    ),
    Malformed(
      "a name with an escape sequence",
      #"""
      version: 1
      scenarios:
        - name: "a\e[31m"
          target: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:3:11: error: `name` must not hold control characters: `a\u{1b}[31m`
        """#
    ),
    Malformed(
      "two scenarios of one name",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
        - name: load
          target: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:5:5: error: the scenario `load` exists twice
          hint: the first is at highwater.yml:3:5
        """#
    ),
    Malformed(
      "an unknown key, nearly right",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          timout: 5m
      """#,
      is: #"""
        highwater.yml:5:5: error: no scenario has the key `timout`
          hint: did you mean `timeout`?
        """#
    ),
    Malformed(
      "a bare number as a duration",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          timeout: 5
      """#,
      is: #"""
        highwater.yml:5:14: error: the duration `5` has no unit
          hint: write one of ms, s, m, h, such as `10s`
        """#
    ),
    Malformed(
      "a duration in an unknown unit",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          timeout: 5 minutes
      """#,
      is: #"""
        highwater.yml:5:14: error: `minutes` is not a unit of duration
          hint: write one of ms, s, m, h, such as `10s`
        """#
    ),
    Malformed(
      "a negative duration",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          timeout: -1s
      """#,
      is: #"""
        highwater.yml:5:14: error: `-1s` is not a duration
          hint: write a number with a unit (ms, s, m, h), such as `10s`
        """#
    ),
    Malformed(
      "a duration of nothing",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          timeout: 0s
      """#,
      is: #"""
        highwater.yml:5:14: error: `timeout` must be from 1 ms to 24 h, not `0s`
        """#
    ),
    Malformed(
      "a list as a duration",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          timeout: [5m]
      """#,
      is: #"""
        highwater.yml:5:14: error: `timeout` must be a duration, not a list
          hint: such as `timeout: 5m`
        """#
    ),
    Malformed(
      "a duration beyond a day",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          timeout: 25h
      """#,
      is: #"""
        highwater.yml:5:14: error: `timeout` must be from 1 ms to 24 h, not `25h`
        """#
    ),
    Malformed(
      "an interval of nothing",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          interval: 0ms
      """#,
      is: #"""
        highwater.yml:5:15: error: `interval` must be from 1 ms to 10 s, not `0ms`
        """#
    ),
  ]
}
