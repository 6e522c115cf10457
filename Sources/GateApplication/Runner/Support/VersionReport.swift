import GateCore

/// What `--version` prints: the first line is name and version, for scripts.
enum VersionReport {
  static func text(commit: String?) -> String {
    let charts = ChartLibrary.isBuiltIn ? "dygraphs" : "none, so pages have static charts only (libjs-dygraphs)"
    return """
      \(Tool.name) \(Tool.version)
      commit: \(commit ?? "unknown (not built with ci/build)")
      interactive charts: \(charts)
      needs at run time: libcurl.so.4 libpcre2-8.so.0 libsqlite3.so.0
      """
  }
}
