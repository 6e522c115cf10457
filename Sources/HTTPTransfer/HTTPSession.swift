/// A keeper of connections to servers; one thread at a time.
///
/// Speaks http and https, follows no redirect, and takes its proxies from the variables that curl(1) knows
/// (`http_proxy`, `https_proxy`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`).
package struct HTTPSession: ~Copyable {
  private let curl = CurlHandles()
  private let trust: HTTPTrust

  package init(trust: HTTPTrust = .fromEnvironment) {
    self.trust = trust
  }

  /// Sends a request and waits for its answer.
  ///
  /// Every status is an answer, 404 and 302 too. The headers of an answer may have 128 KiB in all.
  ///
  /// `isCancelled` is asked several times a second; true ends the transfer with `.cancelled`.
  package func send(
    _ request: HTTPRequest,
    isCancelled: @escaping () -> Bool = { false }
  ) throws(HTTPFailure) -> HTTPAnswer {
    let address = try HTTPAddress(parsing: request.url)
    try request.checkLines()
    return try curl.perform(request, to: address, trusting: trust, isCancelled: isCancelled)
  }
}
