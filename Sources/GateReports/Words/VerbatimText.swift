package import GateCore

// Files store texts; these are the values as files read them back.

extension End {
  package var verbatim: End {
    var end = self
    end.proof = proofText.map { .verbatim($0) }
    end.cause = detailText.map { .verbatim($0) }
    return end
  }
}

extension Failure {
  package var verbatim: Failure {
    Failure(
      part: Part(.verbatim, text: subjectText),
      problem: .verbatim(problemText, isInconclusive: isInconclusive),
      place: place,
      output: output
    )
  }
}

extension Recording {
  package var verbatim: Recording {
    var recording = self
    recording.end = end.verbatim
    recording.failure = failure?.verbatim
    recording.notes = notes.map { .verbatim($0.displayText) }
    return recording
  }
}

extension RunResult {
  package var verbatim: RunResult {
    var result = self
    result.scenarios = scenarios.map(\.verbatim)
    return result
  }
}

extension ScenarioResult {
  package var verbatim: ScenarioResult {
    var result = self
    result.failure = failure?.verbatim
    for index in result.repetitions.indices {
      result.repetitions[index].end = result.repetitions[index].end.verbatim
      result.repetitions[index].notes = result.repetitions[index].notes.map { .verbatim($0.displayText) }
    }
    return result
  }
}

extension RunRecord {
  package var verbatim: RunRecord {
    var record = self
    for scenario in record.scenarios.indices {
      for trouble in record.scenarios[scenario].troubles.indices {
        record.scenarios[scenario].troubles[trouble].end = record.scenarios[scenario].troubles[trouble].end.verbatim
      }
    }
    return record
  }
}

extension NoiseResult {
  package var verbatim: NoiseResult {
    var result = self
    for study in result.studies.indices {
      result.studies[study].result = result.studies[study].result.verbatim
      for variant in result.studies[study].variants.indices {
        let failure = result.studies[study].variants[variant].failure
        result.studies[study].variants[variant].failure = failure?.verbatim
      }
    }
    return result
  }
}
