import GateCore

/// Call stacks as folded text, which flamegraph.pl reads: `main;handle_request;remember 30000000`.
enum FoldedStacks {
  /// The stacks of one repetition, sorted, with the bytes that each holds.
  ///
  /// Live blocks and pages by first touch are not the same kind of evidence: the outermost frame tells which it is.
  /// Memory without a stack has frames, too, so that the sum is the anonymous memory, unless samples overestimate it.
  static func encode(_ profile: MemoryProfile) -> [UInt8] {
    var amounts: [String: Int64] = [:]
    for (stack, weight) in zip(texts(of: profile.calls), profile.calls.nodes.map(\.weight)) {
      if weight.live > 0 { amounts["live;\(stack)", default: 0] += weight.live }
      if weight.touched > 0 { amounts["touched;\(stack)", default: 0] += weight.touched }
    }
    if profile.heapOverhead > 0 { amounts["heap overhead"] = profile.heapOverhead }
    for (cause, bytes) in profile.unattributed where bytes > .zero {
      amounts["unattributed;\(cause.rawValue)"] = bytes.count
    }
    return Array(amounts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined().utf8)
  }

  private static func texts(of calls: CallTree) -> [String] {
    let frames = calls.functions.map(\.frame)
    return calls.nodes.reduce(into: []) { texts, node in
      texts.append((node.parent.map { texts[$0] + ";" } ?? "") + frames[node.function])
    }
  }
}

extension CallTree.Function {
  /// A name as flame graphs show it: `remember`, `handle (server.py:12)`, or `[libserver.so]` if it is unknown.
  fileprivate var frame: String {
    let place = file.map { file in
      " (" + (file.split(separator: "/").last.map(String.init) ?? file) + (line.map { ":\($0)" } ?? "") + ")"
    }
    let text = name.isEmpty ? "[\(module.isEmpty ? "unknown" : module)]" : name + (module.isEmpty ? place ?? "" : "")
    // A frame cannot have what separates frames and lines.
    return String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == ";" ? ":" : $0.isControl ? "?" : $0 }))
  }
}
