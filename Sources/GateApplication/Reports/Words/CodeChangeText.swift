import GateCore

extension RiseExplanation {
  /// One sentence on what changed in the code; nil if that is unknown.
  var changesText: String? { changes.flatMap { changes in changesText(of: changes).map(changes.withSubjectsOnce) } }

  private func changesText(of changes: CodeChanges) -> String? {
    // A stack that is not clear says nothing where none of its functions changed.
    let isUnclear = if case .belowNoise(_, _, false) = finding { changes.functions.isEmpty } else { false }
    guard !finding.functions.isEmpty, !isUnclear || changes.dependencyText != nil else {
      return changes.textWithoutStack
    }
    guard changes.functions.isEmpty, let change = finding.culprit?.change else { return changes.text }
    let hidesInlined = change.file == nil && !change.function.isScript && !change.function.isInstalled
    return changes.text
      + (hidesInlined ? "; functions that the compiler inlined are seen only with debug information (`-g`)" : "")
  }
}

extension CodeChanges {
  /// As in `remember() at cache.c:120 was changed in this branch: 4f2c9e1ab Keep headers (Ada)`; what changed elsewhere is only
  /// known where that may be as likely.
  fileprivate var text: String {
    // With changed functions only the dependencies whose code these call.
    if let dependencyText { return dependencyText + (functions.isEmpty ? "" : "; also \(functionsText)") }
    guard functions.isEmpty else {
      return elsewhereText.map { "not certain which: \(functionsText); changed elsewhere: \($0)" } ?? functionsText
    }
    return
      "nothing on the call stack was changed \(sinceText)\(othersText(", and neither was any other file of the repository"))"
  }

  /// What changed elsewhere; `nothing` if no file did.
  private func othersText(_ nothing: String) -> String {
    guard elsewhere.isEmpty else { return "; changed elsewhere: \(placesText(elsewhere))" }
    return otherFiles == 0
      ? nothing : "; in \(Format.count(otherFiles, "changed file")) only comments, names or log statements differ"
  }

  /// A text about the changes, in which a commit has its subject and author only where it is first named.
  fileprivate func withSubjectsOnce(_ text: String) -> String {
    let commits = Set(functions.flatMap(\.commits).map(\.lineText) + elsewhere.flatMap(\.commits).map(\.lineText))
    return commits.reduce(text) { text, commit in
      let parts = text.split(separator: commit, omittingEmptySubsequences: false)
      let short = commit.prefix { $0 != " " }
      return parts.count < 3 ? text : parts[0] + commit + parts.dropFirst().joined(separator: short)
    }
  }

  private var functionsText: String {
    guard let first = functions.first else { return "" }
    let changed =
      switch (first.isNew, first.isUncommitted) {
      case (true, true): "is new and not committed"
      case (false, true): "has uncommitted changes"
      case (let isNew, false): "was \(isNew ? "added" : "changed") \(sinceText)\(first.commitsText)"
      }
    let others = functions.dropFirst().map { function in
      let isNew = function.isNew ? " (added)" : ""
      return "\(function.placeText)\(isNew)\(function.isUncommitted ? " (uncommitted)" : function.commitsText)"
    }
    return "\(first.placeText) \(changed)" + (others.isEmpty ? "" : "; also " + others.joined(separator: "; "))
  }

  /// As in `no call stack is known; changed since the approved commit 57dc3d9c0: Makefile: 4f2c9e1ab Link with tcmalloc (Ada)`.
  fileprivate var textWithoutStack: String {
    elsewhere.isEmpty
      ? "no call stack is known\(othersText(", and no file was changed \(sinceText)"))"
      : "no call stack is known; changed \(sinceText): \(placesText(elsewhere))"
  }

  /// As in `in this branch`.
  var sinceText: String {
    let commit = CommitText.short(TerminalText.safe(base))
    return switch origin {
    case .branch: "in this branch"
    case .approved: "since the approved commit \(commit)"
    case .reference: "since \(commit)"
    }
  }

  /// As in `ijson 3.5.1 → 3.5.0 was changed in this branch in requirements.txt; its number() is on the call stack`; nil if no
  /// dependency on the call stack changed.
  var dependencyText: String? {
    guard var place = elsewhere.first, let dependency = place.dependencies.first, let part = dependency.partText
    else { return nil }
    let more = place.dependencies.dropFirst().prefix { $0.function != nil }
    let also = more.compactMap { other in other.partText.map { "\($0) of \(other.text(in: place.file))" } }
    place.dependencies.removeFirst(1 + more.count)
    let commit = place.commits.first.map { " (\($0.lineText))" } ?? ""
    place.commits = []
    let others = (place.dependencies.isEmpty ? [] : [place]) + elsewhere.dropFirst()
    let changed = "\(dependency.text(in: place.file)) was changed \(sinceText) in \(TerminalText.safe(place.file))"
    return "\(changed)\(commit); its \(part) is on the call stack"
      + (also.isEmpty ? "" : ", and so is \(also.joined(separator: ", and "))")
      + (others.isEmpty ? "" : "; changed elsewhere: \(placesText(others))")
  }

  /// What changed besides functions on the call stack; nil if nothing did, or if that is in ``dependencyText``.
  var elsewhereText: String? { elsewhere.isEmpty || dependencyText != nil ? nil : placesText(elsewhere) }

  private func placesText(_ places: [ChangedPlace]) -> String {
    let more = otherFiles > 0 ? " and \(Format.count(otherFiles, "other file"))" : ""
    return places.map(\.text).joined(separator: ", ") + more
  }
}

extension ChangedFunction {
  /// As in `remember() at cache.c:120`, `trim() at cache.c:80 (called by serve())`, `the type Page at cache.h:8 (used by
  /// serve())` or `LIMIT at cache.h:2 (used by serve())`.
  var placeText: String {
    let used = caller.map { " (\(kind == .function ? "called" : "used") by \($0.displayText))" } ?? ""
    let name =
      switch kind {
      case .function: function.displayText
      case .type: "the type \(TerminalText.safe(function.name))"
      case .value: TerminalText.safe(function.name)
      }
    return "\(name) at \(TerminalText.safe(file)):\(line)\(used)"
  }

  private static let mostCommits = 2

  /// As in `: 4f2c9e1ab Keep headers (Ada)`; empty if they are unknown.
  fileprivate var commitsText: String {
    let more = commits.count > Self.mostCommits ? " and \(commits.count - Self.mostCommits) more" : ""
    let texts = commits.prefix(Self.mostCommits).map(\.lineText)
    return texts.isEmpty ? "" : ": \(texts.joined(separator: ", "))\(more)"
  }

  /// The changed lines with their marks, without the blanks that all begin with.
  var diff: [String] {
    let lines = removed.map { ("-", $0) } + added.map { ("+", $0) }
    let shown = lines.map(\.1).filter { !$0.allSatisfy(\.isWhitespace) }
    let margin = shown.map { $0.prefix(while: \.isWhitespace).count }.min()
    return lines.map { mark, line in "\(mark) \(TerminalText.safe(String(line.dropFirst(margin ?? 0))))" }
  }
}

extension ChangedPlace {
  private static let mostDependencies = 5

  /// As in `put() at app.py:3: 4f2c9e1ab Keep headers (Ada)` or `requirements.txt (pillow 9.0 → 9.1)`.
  fileprivate var text: String {
    let function = function.map { "\(TerminalText.safe($0))() at " } ?? ""
    let commit = commits.first.map { ": \($0.lineText)" } ?? ""
    let place = function + TerminalText.safe(file) + (line.map { ":\($0)" } ?? "")
    let texts = dependencies.prefix(Self.mostDependencies).map { $0.text(in: file) }
    let more = dependencies.count > texts.count ? " and \(dependencies.count - texts.count) more" : ""
    return place + (texts.isEmpty ? "" : " (\(texts.joined(separator: ", "))\(more))") + commit
  }
}

extension DependencyChange {
  /// Its function on the call stack; nil without one.
  fileprivate var partText: String? {
    // As of the code of a module outside of functions.
    function.map { $0.name.isEmpty ? "code" : $0.name.hasPrefix("<") ? TerminalText.safe($0.module) : $0.displayText }
  }

  /// As in `pillow 9.0 → 9.1` or `six 1.0 added`, without the name of the file itself.
  fileprivate func text(in file: String) -> String {
    let known = [before, now].compactMap { $0.map { TerminalText.safe($0) } }
    let versions = known.joined(separator: " → ") + (before == nil ? " added" : now == nil ? " removed" : "")
    return name == file ? versions : "\(TerminalText.safe(name)) \(versions)"
  }
}

extension CommitInfo {
  /// In columns.
  private static let (longestSubject, longestAuthor) = (80, 40)

  /// As in `4f2c9e1ab Keep headers (Ada)`; others wrote the subject and the name.
  var lineText: String {
    func cut(_ text: String, _ limit: Int) -> String { TerminalText.cut(TerminalText.safe(text), to: limit, mark: "…") }
    let subject = subject.map { " \(cut($0, Self.longestSubject))" } ?? ""
    let author = author.map { " (\(cut($0, Self.longestAuthor)))" } ?? ""
    return CommitText.short(TerminalText.safe(commit)) + subject + author
  }
}
