extension Malformed {
  /// Rules for what a target reports itself.
  static let values: [Malformed] = [
    value(
      "a bare limit of memory", "peak_rss: {limit: 1000}, tree_peak: [3%, 10]",
      is: """
        highwater.yml:5:30: error: the size `1000` has no unit
          hint: write one of B, KiB, MiB, GiB, kB, MB, GB, such as `512KiB`
        highwater.yml:5:53: error: the tolerance `10` has no unit
          hint: write a share such as `3%`, a size such as `512KiB`, both as `[3%, 512KiB]`, or `auto`
        """
    ),
    value(
      "a number with the target's own unit", "value.a: 10items, value.b: {limit: 10 items}",
      is: """
        highwater.yml:5:21: error: `10items` is not a number up to 2^60, a size or a span of time
          hint: \(units)
        highwater.yml:5:47: error: `10 items` is not a number up to 2^60, a size or a span of time
          hint: \(units)
        """),
    value(
      "a limit and a tolerance of two kinds",
      "value.a: {tolerance: [3%, 10], limit: 5s}, value.b: {tolerance: 1s, limit: 1MiB}",
      is: """
        highwater.yml:5:21: error: the limit and the tolerance of `value.a` are in different units
          hint: a figure has one unit: write both as sizes, both as spans of time, or both as bare numbers
        highwater.yml:5:64: error: the limit and the tolerance of `value.b` are in different units
          hint: a figure has one unit: write both as sizes, both as spans of time, or both as bare numbers
        """),
    value(
      "names that no target can report",
      "value.: 3%, value.a b: 3%, value..x: 3%, value: 3%, value.\(String(repeating: "n", count: 101)): 3%",
      is: """
        highwater.yml:5:12: error: there is no metric `value.`
          hint: \(metrics)
        highwater.yml:5:24: error: there is no metric `value.a b`
          hint: \(metrics)
        highwater.yml:5:39: error: there is no metric `value..x`
          hint: \(metrics)
        highwater.yml:5:53: error: there is no metric `value`
          hint: \(metrics)
        highwater.yml:5:64: error: there is no metric `value.nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…`
          hint: \(metrics)
        """),
    value(
      "a metric that is near to none", "cache.entries: 3%",
      is: """
        highwater.yml:5:12: error: there is no metric `cache.entries`
          hint: \(metrics)
        """),
    value(
      "numbers that are none", "value.a: -5, value.b: .inf, value.c: {limit: 1e400}, value.d: 1152921504606846977000",
      is: """
        highwater.yml:5:21: error: `value.a` must be a share, a number, a size, a span of time, `auto` or `off`, not `-5`
          hint: such as `value.a: [3%, 10]`
        highwater.yml:5:34: error: `value.b` must be a share, a number, a size, a span of time, `auto` or `off`, not `.inf`
          hint: such as `value.b: [3%, 10]`
        highwater.yml:5:57: error: `1e400` is not a number up to 2^60, a size or a span of time
          hint: \(units)
        highwater.yml:5:74: error: `1152921504606846977000` is not a number up to 2^60, a size or a span of time
          hint: \(units)
        """),
    value(
      "a share as a limit of a value", "value.a: {limit: 3%}",
      is: """
        highwater.yml:5:29: error: `3%` is not a number up to 2^60, a size or a span of time
          hint: \(units)
        """),
    value(
      "two amounts", "value.a: [10, 20], value.b: []",
      is: """
        highwater.yml:5:21: error: `value.a` must be one share and one amount at most
          hint: such as `value.a: [3%, 10]`
        highwater.yml:5:40: error: `value.b` must be one share and one amount at most
          hint: such as `value.b: [3%, 10]`
        """),
    value(
      "a word", "value.a: low, value.b: {limit: high}",
      is: """
        highwater.yml:5:21: error: `value.a` must be a share, a number, a size, a span of time, `auto` or `off`, not `low`
          hint: such as `value.a: [3%, 10]`
        highwater.yml:5:43: error: `high` is not a number up to 2^60, a size or a span of time
          hint: \(units)
        """),
    value(
      "nothing to judge by", "value.a: , value.b: [3%, [1]]",
      is: """
        highwater.yml:5:21: error: the metric `value.a` has no tolerance
          hint: such as `value.a: 3%`
        highwater.yml:5:37: error: `value.b` must be a share, a number, a size, a span of time, not a list
          hint: such as `value.b: [3%, 10]`
        """),
    value(
      "a span that is too long", "value.a: 169h, value.b: 10us",
      is: """
        highwater.yml:5:21: error: the duration `169h` is too long
          hint: the longest is 168h
        highwater.yml:5:36: error: `10us` is not a number up to 2^60, a size or a span of time
          hint: \(units)
        """),
  ]

  private static let metrics =
    "the metrics are `peak_rss`, `steady_rss`, `growth`, `spike`, `fault_rate`, `tree_peak`, `tree_steady`, of a phase "
    + "`phase.NAME.peak_rss` and `phase.NAME.steady_rss`, and `value.NAME` is what the target reports as "
    + "`value NAME NUMBER UNIT`"

  private static let units =
    "write an amount in a unit that the target reports as a bare number, such as `1000`; the other units are B, KiB, "
    + "MiB, GiB, kB, MB, GB, ms, s, m, h"

  private static func value(_ title: String, _ rules: String, is expected: String) -> Malformed {
    Malformed(
      title, "version: 1\nscenarios:\n  - name: load\n    target: {command: [sleep, '1']}\n    gate: {\(rules)}",
      is: expected
    )
  }
}
