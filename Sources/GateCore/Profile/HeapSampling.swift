/// Whether the call stacks of a process have the objects of its collected heap, by the heap sampler of its runtime.
package enum HeapSampling: Sendable, Hashable {
  /// They hold so much of the heap's pages.
  case sampled(Bytes)
  case missing(HeapObstacle)

  package var isSampled: Bool { obstacle == nil }

  package var obstacle: HeapObstacle? { if case .missing(let obstacle) = self { obstacle } else { nil } }
}

/// Why nobody knows which call stacks allocated the objects of a collected heap.
package enum HeapObstacle: String, Sendable, Hashable, Codable {
  /// The process did not load a heap sampler.
  case notLoaded = "not-loaded"
  /// The runtime does not allow sampling.
  case refused
  /// The process ended before its first profile.
  case noProfile = "no-profile"
  /// The program has no symbols, which would tell where its runtime counts.
  case noSymbols = "no-symbols"
  /// Of two builds, only one was sampled.
  case oneBuild = "one-build"
}
