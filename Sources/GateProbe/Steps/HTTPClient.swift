import GateCore
import HTTPTransfer

/// Sends the runner's own requests to the target, and reuses connections.
final class HTTPClient {
  private let session = HTTPSession()

  /// The status of the response, or the reason for a failure, without credentials.
  ///
  /// Polls `isCancelled` several times a second.
  func status(of request: HTTPRequest, isCancelled: @escaping () -> Bool) -> Result<Int, HTTPFailure> {
    do throws(HTTPFailure) {
      return .success(try session.send(request, isCancelled: isCancelled).status)
    } catch {
      return .failure(error)
    }
  }
}

extension HTTPRequest {
  init(_ call: Step.HTTPCall, within time: Duration) {
    self.init(
      url: call.url,
      method: call.method,
      headers: call.headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) },
      body: call.body.map { Array($0.utf8) }
    )
    avoidsProxyOnLoopback = true
    totalTimeout = min(totalTimeout, max(time, .milliseconds(1)))
    connectTimeout = min(connectTimeout, totalTimeout)
  }
}
