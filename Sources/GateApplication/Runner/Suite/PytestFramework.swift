import GateCore

extension SuiteFramework {
  /// `pytest`, `python3 -m pytest`, and whatever starts them with its own environment.
  static let pytest = SuiteFramework(
    name: .pytest,
    isRun: { $0.hasProgram("pytest", "py.test") },
    method: .reported(
      ReportedTests(
        plugin: "highwater_pytest.py",
        variables: { folder, set in
          [
            "PYTHONPATH": list(folder, set["PYTHONPATH"], by: ":"),
            "PYTEST_PLUGINS": list(set["PYTEST_PLUGINS"], "highwater_pytest", by: ","),
            // With random hashes the sizes of sets and dictionaries differ from run to run.
            "PYTHONHASHSEED": set["PYTHONHASHSEED"] ?? "0",
          ]
        },
        selection: { words, _ in words }))
  )
}
