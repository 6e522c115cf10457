extension Malformed {
  /// Numbers and words of measuring.
  static let measuring: [Malformed] = [
    Malformed(
      "a negative number",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          warmup: -1
      """#,
      is: #"""
        highwater.yml:5:13: error: `warmup` must be a whole number from 0 to 100, not `-1`
          hint: such as `warmup: 1`
        """#
    ),
    Malformed(
      "a huge number",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          warmup: 99999999999999999999999
      """#,
      is: #"""
        highwater.yml:5:13: error: `warmup` must be a whole number from 0 to 100, not `99999999999999999999999`
          hint: such as `warmup: 1`
        """#
    ),
    Malformed(
      "a number as 1e999",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          warmup: 1e999
      """#,
      is: #"""
        highwater.yml:5:13: error: `warmup` must be a whole number from 0 to 100, not `1e999`
          hint: such as `warmup: 1`
        """#
    ),
    Malformed(
      "not a number",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          warmup: .nan
      """#,
      is: #"""
        highwater.yml:5:13: error: `warmup` must be a whole number from 0 to 100, not `.nan`
          hint: such as `warmup: 1`
        """#
    ),
    Malformed(
      "a number in quotes",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          warmup: "1"
      """#,
      is: #"""
        highwater.yml:5:13: error: `warmup` must be a whole number from 0 to 100, not the text `1`
          hint: a number stands without quotes
        """#
    ),
    Malformed(
      "too many repetitions",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          repetitions: 1001
      """#,
      is: #"""
        highwater.yml:5:18: error: `repetitions` must be a whole number from 1 to 1000, not `1001`
          hint: such as `repetitions: 1`
        """#
    ),
    Malformed(
      "min larger than max",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          repetitions: {min: 9, max: 3}
      """#,
      is: #"""
        highwater.yml:5:19: error: `min` is larger than `max`: 9 and 3
        """#
    ),
    Malformed(
      "a bare size",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          memory-limit: 512
      """#,
      is: #"""
        highwater.yml:5:19: error: the size `512` has no unit
          hint: write one of B, KiB, MiB, GiB, kB, MB, GB, such as `512KiB`
        """#
    ),
    Malformed(
      "a size of nothing",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          memory-limit: 0MiB
      """#,
      is: #"""
        highwater.yml:5:19: error: `memory-limit` must be more than nothing
        """#
    ),
    Malformed(
      "a size in an unknown unit",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          memory-limit: 512M
      """#,
      is: #"""
        highwater.yml:5:19: error: `M` is not a unit of size
          hint: write one of B, KiB, MiB, GiB, kB, MB, GB, such as `512KiB`
        """#
    ),
    Malformed(
      "a size beyond measure",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          memory-limit: 99999999999GiB
      """#,
      is: #"""
        highwater.yml:5:19: error: the size `99999999999GiB` is too large
          hint: the largest is 1073741824GiB
        """#
    ),
    Malformed(
      "an unknown ending",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          until: step
      """#,
      is: #"""
        highwater.yml:5:12: error: `until` must be one of `steps`, `exit`, not `step`
          hint: did you mean `steps`?
        """#
    ),
    Malformed(
      "an exit code out of range",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          expect: {exit: [0, 256]}
      """#,
      is: #"""
        highwater.yml:5:24: error: `exit` must be a whole number from 0 to 255, not `256`
          hint: such as `exit: 0`
        """#
    ),
    Malformed(
      "an expect that accepts nothing",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          expect: {}
      """#,
      is: #"""
        highwater.yml:5:13: error: `expect` accepts no end
          hint: such as `expect: {exit: 0}`
        """#
    ),
    Malformed(
      "an unknown signal",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          stop: {signal: SIGTREM}
      """#,
      is: #"""
        highwater.yml:5:20: error: there is no signal `SIGTREM`
          hint: did you mean `TERM`?
        """#
    ),
    Malformed(
      "a signal in small letters",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          stop: {signal: sigterm}
      """#,
      is: #"""
        highwater.yml:5:20: error: there is no signal `sigterm`
          hint: did you mean `TERM`?
        """#
    ),
    Malformed(
      "CPUs that are no list",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          isolation: {cpus: 3-1}
      """#,
      is: #"""
        highwater.yml:5:23: error: `3-1` is not a list of CPUs
          hint: numbers from 0 to 1023 and ranges, such as `cpus: "0-1,3"`
        """#
    ),
    Malformed(
      "yes for on",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          isolation: {aslr: yes}
      """#,
      is: #"""
        highwater.yml:5:23: error: `aslr` must be one of `on`, `off`, not `yes`
        """#
    ),
    Malformed(
      "a tag with a blank",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
          tags: [a b]
      """#,
      is: #"""
        highwater.yml:5:12: error: `a b` is not a name
          hint: a name is a letter or digit, then at most 99 of A-Z a-z 0-9 . _ -
        """#
    ),
  ]
}
