extension Malformed {
  /// `gate` and `matrix`.
  static let gates: [Malformed] = [
    Malformed(
      "an unknown metric",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          gate: {peek_rss: 3%}
      """#,
      is: #"""
        highwater.yml:5:12: error: there is no metric `peek_rss`
          hint: did you mean `peak_rss`?
        """#
    ),
    Malformed(
      "an unknown metric of a phase",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          gate: {phase.load.peak: 3%, phase.load.spike: 3%}
      """#,
      is: #"""
        highwater.yml:5:12: error: there is no metric `phase.load.peak`
          hint: did you mean `phase.load.peak_rss`?
        highwater.yml:5:33: error: there is no metric `phase.load.spike`
          hint: the metrics of a phase are `phase.NAME.peak_rss` and `phase.NAME.steady_rss`
        """#
    ),
    Malformed(
      "a bare tolerance",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          gate: {peak_rss: 3}
      """#,
      is: #"""
        highwater.yml:5:22: error: the tolerance `3` has no unit
          hint: write a share such as `3%`, a size such as `512KiB`, both as `[3%, 512KiB]`, or `auto`
        """#
    ),
    Malformed(
      "a word as a tolerance",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          gate: {peak_rss: low, spike: automatic}
      """#,
      is: #"""
        highwater.yml:5:22: error: `peak_rss` must be a share, a size, `auto` or `off`, not `low`
          hint: such as `peak_rss: [3%, 512KiB]`
        highwater.yml:5:34: error: `spike` must be a share, a size, `auto` or `off`, not `automatic`
          hint: such as `spike: [3%, 512KiB]`
        """#
    ),
    Malformed(
      "two shares",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          gate: {peak_rss: [3%, 5%]}
      """#,
      is: #"""
        highwater.yml:5:22: error: `peak_rss` must be one share and one amount at most
          hint: such as `peak_rss: [3%, 512KiB]`
        """#
    ),
    Malformed(
      "a share as a limit",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          gate: {peak_rss: {limit: 3%}}
      """#,
      is: #"""
        highwater.yml:5:30: error: `%` is not a unit of size
          hint: write one of B, KiB, MiB, GiB, kB, MB, GB, such as `512KiB`
        """#
    ),
    Malformed(
      "an unknown severity",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          gate: {peak_rss: {tolerance: 3%, on: error}}
      """#,
      is: #"""
        highwater.yml:5:42: error: `on` must be one of `fail`, `warn`, `off`, not `error`
        """#
    ),
    Malformed(
      "growth with nothing to judge by",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          gate: {growth: {on: warn}}
      """#,
      is: #"""
        highwater.yml:5:20: error: the rule of `growth` has neither a limit nor a tolerance
          hint: such as `growth: {limit: 1KiB}`
        """#
    ),
    Malformed(
      "a gate that judges nothing",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          gate: {}
      """#,
      is: #"""
        highwater.yml:5:11: error: `gate` judges nothing
          hint: name a metric, or leave `gate` out
        """#
    ),
    Malformed(
      "a metric without a value",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          gate: {peak_rss: }
      """#,
      is: #"""
        highwater.yml:5:22: error: the metric `peak_rss` has no tolerance
          hint: such as `peak_rss: 3%`
        """#
    ),
    Malformed(
      "an axis that is no list",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          matrix: {clients: 5}
      """#,
      is: #"""
        highwater.yml:5:23: error: `clients` must be a list of values, not `5`
          hint: such as `matrix: {clients: [1, 50]}`
        """#
    ),
    Malformed(
      "an empty axis",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          matrix: {clients: []}
      """#,
      is: #"""
        highwater.yml:5:23: error: `clients` has no values
          hint: such as `matrix: {clients: [1, 50]}`
        """#
    ),
    Malformed(
      "a value twice",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          matrix: {clients: [1, 1]}
      """#,
      is: #"""
        highwater.yml:5:27: error: the value `1` stands twice in `clients`
        """#
    ),
    Malformed(
      "a mapping as a value",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          matrix: {clients: [{a: 1}]}
      """#,
      is: #"""
        highwater.yml:5:24: error: `clients` must be a list of texts and numbers, not a mapping
          hint: such as `matrix: {clients: [1, 50]}`
        """#
    ),
    Malformed(
      "an unknown axis in a text",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          description: "{{cleints}} of {{other}}"
          matrix: {clients: [1, 2]}
      """#,
      is: #"""
        highwater.yml:5:18: error: the matrix has no axis `cleints` for `{{cleints}}`
          hint: did you mean `{{clients}}`?
        highwater.yml:5:18: error: the matrix has no axis `other` for `{{other}}`
          hint: it has `clients`
        """#
    ),
    Malformed(
      "too large a matrix",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          matrix:
            a0: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
            a1: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
            a2: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
            a3: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
      """#,
      is: #"""
        highwater.yml:6:7: error: the matrix makes more than 5000 scenarios
        """#
    ),
    Malformed(
      "a name that a matrix makes twice",
      #"""
      version: 1
      scenarios:
        - name: load
          matrix: {a: ["1,b=2"]}
          target: {command: [sleep, '1']}
        - name: load
          matrix: {a: [1], b: [2]}
          target: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:6:5: error: the scenario `load[a=1,b=2]` exists twice
          hint: the first is at highwater.yml:3:5
        """#
    ),
    Malformed(
      "an unknown metric with a dot",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          gate: {phase.a.b.peek_rss: 3%, fase.load.peak_rss: 3%, ../../x: 3%}
      """#,
      is: #"""
        highwater.yml:5:12: error: there is no metric `phase.a.b.peek_rss`
          hint: did you mean `phase.a.b.peak_rss`?
        highwater.yml:5:36: error: there is no metric `fase.load.peak_rss`
          hint: the metrics are `peak_rss`, `steady_rss`, `growth`, `spike`, `fault_rate`, `tree_peak`, `tree_steady`, of a phase `phase.NAME.peak_rss` and `phase.NAME.steady_rss`, and `value.NAME` is what the target reports as `value NAME NUMBER UNIT`
        highwater.yml:5:60: error: there is no metric `../../x`
          hint: the metrics are `peak_rss`, `steady_rss`, `growth`, `spike`, `fault_rate`, `tree_peak`, `tree_steady`, of a phase `phase.NAME.peak_rss` and `phase.NAME.steady_rss`, and `value.NAME` is what the target reports as `value NAME NUMBER UNIT`
        """#
    ),
    Malformed(
      "an unsound value in a filled text",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          repetitions: "{{n}}"
          matrix: {n: [3, many]}
      """#,
      is: #"""
        highwater.yml:5:18: error: `repetitions` must be a whole number from 1 to 1000, not `many`
          hint: such as `repetitions: 1`
        """#
    ),
    Malformed(
      "a value with a line break",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          matrix: {n: ["a\nb"]}
      """#,
      is: #"""
        highwater.yml:5:18: error: `a\nb` cannot be a value of `n`
          hint: a value becomes part of the scenario's name: 1 to 100 bytes, and no control characters
        """#
    ),
    Malformed(
      "faults in a matrix and beside it",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          matrix: {"a b": [1]}
          warmup: x
      """#,
      is: #"""
        highwater.yml:5:14: error: `a b` is not a name
          hint: a name is a letter or digit, then at most 99 of A-Z a-z 0-9 . _ -
        highwater.yml:6:13: error: `warmup` must be a whole number from 0 to 100, not `x`
          hint: such as `warmup: 1`
        """#
    ),
    Malformed(
      "a name and a matrix without a value",
      #"""
      version: 1
      scenarios:
        - name:
          matrix: ~
          target: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:3:5: error: the key `name` has no value
          hint: write one, or remove the key
        highwater.yml:4:5: error: the key `matrix` has no value
          hint: write one, or remove the key
        """#
    ),
  ]
}
