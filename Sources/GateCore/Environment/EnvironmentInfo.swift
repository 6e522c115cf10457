/// An environment and the name under which its baselines are stored.
package struct EnvironmentInfo: Sendable, Hashable, Codable {
  package var name: String
  package var fingerprint: Fingerprint
  /// Hard fields that the team ignores in comparisons.
  package var ignoredFields: Set<Fingerprint.Field>
  /// The accuracy of the kernel's counters on this machine; nil if it was not checked.
  package var counters: CounterCheck?

  package init(
    name: String,
    fingerprint: Fingerprint,
    ignoredFields: Set<Fingerprint.Field> = [],
    counters: CounterCheck? = nil
  ) {
    self.name = name
    self.fingerprint = fingerprint
    self.ignoredFields = ignoredFields
    self.counters = counters
  }
}

extension Sequence<EnvironmentInfo> {
  /// The first one with the shortest name, which is that of a scenario without isolation; nil if there is none.
  package var plainest: EnvironmentInfo? { self.min { $0.name.count < $1.name.count } }
}

/// The accuracy of the machine's memory counters.
package struct CounterCheck: Sendable, Hashable {
  /// The error bound of a high-water mark after memory was released, of all kinds of memory together
  /// (lib/percpu_counter.c).
  package var bound: Bytes
  /// `VmRSS` of `status` less `Rss` of `smaps_rollup`, of an idle helper process; zero from Linux 6.16 on.
  package var difference: Bytes

  package init(bound: Bytes, difference: Bytes) {
    self.bound = bound
    self.difference = difference
  }
}

/// How the project file names and compares environments.
package struct EnvironmentRule: Sendable, Equatable {
  /// A name instead of the one derived from the fingerprint.
  package var name: String?
  /// Hard fields that are ignored in comparisons.
  package var ignoredFields: Set<Fingerprint.Field>

  package init(name: String? = nil, ignoredFields: Set<Fingerprint.Field> = []) {
    self.name = name
    self.ignoredFields = ignoredFields
  }
}
