/// An HTTP client that reuses its connections; to be used by one thread at a time.
///
/// Speaks http and https, follows no redirects, and takes its proxies from the variables that curl(1) reads
/// (`http_proxy`, `https_proxy`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`), unless a request avoids them.
package struct HTTPSession: ~Copyable {
  private let curl = CurlHandles()
  private let trust: HTTPTrust

  package init(trust: HTTPTrust = .fromEnvironment) {
    self.trust = trust
  }

  /// Sends a request and waits for its response.
  ///
  /// A response with any status is returned, 404 and 302 included. Its headers may have 128 KiB in all.
  ///
  /// `isCancelled` is called several times a second; true ends the transfer with `.cancelled`.
  package func send(
    _ request: HTTPRequest,
    isCancelled: @escaping () -> Bool = { false }
  ) throws(HTTPFailure) -> HTTPResponse {
    let address = try HTTPAddress(parsing: request.url)
    try request.validate()
    return try curl.perform(request, to: address, trusting: trust, isCancelled: isCancelled)
  }
}
