package import GateCore

/// The CI systems that a job can recognise by its environment, in the order in which they are recognised.
///
/// A new one is a case here with its row, in a file of its own or with the systems of which less is known.
package enum CISystem: Sendable, CaseIterable {
  case gitHub, gitLab, woodpecker, drone, buildkite, circleCI, azure, bitbucket, teamCity, jenkins

  package var row: Row {
    switch self {
    case .gitHub: .gitHub
    case .gitLab: .gitLab
    case .woodpecker: .woodpecker
    case .drone: .drone
    case .buildkite: .buildkite
    case .circleCI: .circleCI
    case .azure: .azure
    case .bitbucket: .bitbucket
    case .teamCity: .teamCity
    case .jenkins: .jenkins
    }
  }

  /// The job that `init` writes for the system, or tells how to add; nil if none is known.
  ///
  /// It checks the starter; `config` is the path of the project file if `check` does not find it by itself.
  package func starterJob(of starter: Starter, config: String?) -> StarterJob? {
    let content = JobContent(of: starter, config: config)
    return row.job.map { job in
      StarterJob(
        system: row.name, path: job.file?.path, text: job.file?.text(content) ?? "",
        advice: job.advice(content))
    }
  }
}

extension CISystem {
  /// What is known of a CI system: how a job recognises it, where it says what the job builds, by environment variables
  /// and by files that these name, and what it shows of a run.
  ///
  /// No member has a default, so that nothing is forgotten. Of several sources the first one with a value counts.
  package struct Row: Sendable {
    package let name: String
    /// A variable that the system sets in every job; it must have the value, if one is given.
    package let variable: String
    package let value: String?
    /// The head of a pull request comes before the merge commit that is built of it.
    package let commit: [Source]
    /// The first line of the commit's message.
    package let subject: [Source]
    /// The branch of a pull request comes before the one that it is to be merged into.
    package let branch: [Source]
    package let pullRequest: [Source]
    /// The branch that a pull request is to be merged into.
    package let targetBranch: [Source]
    /// A commit of that branch, in which the pull request left it or later.
    package let targetCommit: [Source]
    package let buildURL: [Source]
    /// Who started the build.
    package let person: [Source]
    /// For jobs that share the work.
    package let shard: Shard?
    /// How it folds a part of the log; nil if it does not, or if that is not known.
    package let folding: LogFolding?
    /// The file that it shows as the summary of a job, in Markdown.
    package let summaryFile: [Source]
    /// The commands in the log that it shows as annotations.
    let annotations: (@Sendable (RunResult, SummaryContext) -> String)?
    /// What `init` writes.
    package let job: Job?
  }

  /// A value that a system may provide.
  package enum Source: Sendable, Equatable, ExpressibleByStringLiteral {
    /// A text in which `{NAME}` is a variable; there is no value if one of them is unset.
    case text(String)
    /// A text in the JSON file that a variable names, if another variable has this value.
    case json(file: String, keys: [String], where: String, is: String)
    /// A build parameter in TeamCity's files of properties.
    case property(String)

    package init(stringLiteral text: String) {
      self = .text(text)
    }
  }

  /// Where a job finds its place among those that share the work.
  package struct Shard: Sendable {
    package let index: Source
    package let count: Source
    /// The index of the first of these jobs.
    package let first: Int
  }

  /// The job that `init` writes.
  package struct Job: Sendable {
    /// What shows that a repository uses the system: a path from its root.
    package let marker: String
    /// What the address of a remote repository has that uses the system; nil if no address shows it.
    package let host: String?
    /// The file, by its path from the repository's root; nil for a system whose only file exists already.
    package let file: File?
    /// What is to be done with the file, or without one, as a sentence.
    let advice: @Sendable (JobContent) -> String

    package struct File: Sendable {
      package let path: String
      let text: @Sendable (JobContent) -> String
    }
  }
}

/// How a CI system folds a part of its log behind a title.
package struct LogFolding: Sendable {
  /// A part of the log.
  struct Section {
    /// The same at its begin and its end, and that of no other part.
    let name: String
    let title: String
  }

  /// Lines with their newlines; the last argument is the time in seconds since 1970.
  let begin: @Sendable (Section, Int) -> String
  let end: @Sendable (Section, Int) -> String
}
