private import CURL
private import Glibc
private import LinuxSystem

/// libcurl's two handles: the transfer, and the event loop that drives it and keeps connections open.
///
/// The only file that imports libcurl. It uses the multi interface because `curl_easy_perform` may check for a
/// cancellation only once a second.
struct CurlHandles: ~Copyable {
  private let easy: UnsafeMutableRawPointer?
  private let multi: UnsafeMutableRawPointer?
  /// The socket of the latest connection.
  private let connection = UnsafeMutablePointer<curl_socket_t>.allocate(capacity: 1)

  /// Initializes the library once for the process (curl_global_init(3)).
  private static let isInitialized = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  init() {
    easy = Self.isInitialized ? curl_easy_init() : nil
    multi = Self.isInitialized ? curl_multi_init() : nil
    connection.initialize(to: -1)
  }

  deinit {
    if let easy { curl_easy_cleanup(easy) }
    if let multi { curl_multi_cleanup(multi) }
    connection.deallocate()
  }

  /// Sends a validated request and waits for the response.
  func perform(
    _ request: HTTPRequest,
    to address: HTTPAddress,
    trusting trust: HTTPTrust,
    isCancelled: () -> Bool
  ) throws(HTTPFailure) -> HTTPResponse {
    guard let easy, let multi else { throw HTTPFailure(code: .other, problem: "cannot initialize libcurl") }
    guard request.totalTimeout > .zero else {
      throw HTTPFailure(code: .timedOut, problem: "no time left for a request to \(address)")
    }
    let received = Received(limit: request.maximumResponseSize)
    var headers: UnsafeMutablePointer<curl_slist>?
    defer {
      // The handle must not keep pointers to what this call frees.
      curl_easy_reset(easy)
      curl_slist_free_all(headers)
    }
    for line in request.headerLines {
      guard let longer = curl_slist_append(headers, line) else { throw .outOfMemory }
      headers = longer
    }
    var options = CurlOptions(easy)
    options.setDefaults(trusting: trust)
    options.set(request)
    let avoidsProxy = request.avoidsProxyOnLoopback && address.isLoopback
    // An empty name disables the proxies of the environment (CURLOPT_PROXY(3)).
    if avoidsProxy { options.set(CURLOPT_PROXY, "") }
    options.set(CURLOPT_HTTPHEADER, headers)
    options.set(receiver: received)
    options.remember(connectionAt: connection)
    guard options.firstError == CURLE_OK else {
      let error = String(cString: curl_easy_strerror(options.firstError))
      throw HTTPFailure(code: .other, problem: "libcurl rejected an option: \(error)")
    }

    let code = try withExtendedLifetime(received) { () throws(HTTPFailure) in
      try run(easy, in: multi, address, isCancelled)
    }
    let isComplete = code == CURLE_OK || received.isTruncated
    // A status has three digits (RFC 9110, section 15); from a damaged line libcurl 7.88 reads any number, even -1.
    guard isComplete, (100...999).contains(Self.number(CURLINFO_RESPONSE_CODE, of: easy)) else {
      let failure = isComplete ? CURLE_WEIRD_SERVER_REPLY : code
      throw HTTPFailure(failure, of: easy, received, at: address, mayUseProxy: !avoidsProxy)
    }
    return Self.response(of: easy, received)
  }

  /// Runs one transfer to its end; calls `isCancelled` ten times a second.
  private func run(
    _ easy: UnsafeMutableRawPointer,
    in multi: UnsafeMutableRawPointer,
    _ address: HTTPAddress,
    _ isCancelled: () -> Bool
  ) throws(HTTPFailure) -> CURLcode {
    guard curl_multi_add_handle(multi, easy) == CURLM_OK else { throw .outOfMemory }
    defer { curl_multi_remove_handle(multi, easy) }
    var running: CInt = 1
    while true {
      guard curl_multi_perform(multi, &running) == CURLM_OK else { throw .outOfMemory }
      if running == 0 { break }
      hw_curl_acknowledge(connection.pointee)
      if isCancelled() {
        throw HTTPFailure(code: .cancelled, problem: "the request to \(address) was cancelled")
      }
      guard curl_multi_poll(multi, nil, 0, 100, nil) == CURLM_OK else { throw .outOfMemory }
    }
    var waiting: CInt = 0
    while let message = curl_multi_info_read(multi, &waiting) {
      if message.pointee.msg == CURLMSG_DONE { return message.pointee.data.result }
    }
    throw HTTPFailure(code: .other, problem: "libcurl reported no result for the request to \(address)")
  }

  private static func response(of easy: UnsafeMutableRawPointer, _ received: Received) -> HTTPResponse {
    var seconds: curl_off_t = 0
    let isKnown = hw_curl_get_offset(easy, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK && seconds > 0
    return HTTPResponse(
      status: number(CURLINFO_RESPONSE_CODE, of: easy),
      body: received.body,
      retryAfter: isKnown ? .seconds(min(seconds, 86_400 * 365)) : nil
    )
  }

  fileprivate static func number(_ info: CURLINFO, of easy: UnsafeMutableRawPointer) -> Int {
    var value = 0
    return hw_curl_get_long(easy, info, &value) == CURLE_OK ? value : 0
  }

  /// Parses a URL with libcurl's own parser, so that the printed host is the host that is contacted.
  static func parts(ofURL url: String) -> (scheme: String, host: String, port: Int?)? {
    guard let parser = curl_url() else { return nil }
    defer { curl_url_cleanup(parser) }
    guard curl_url_set(parser, CURLUPART_URL, url, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK else { return nil }
    func part(_ part: CURLUPart) -> String? {
      var text: UnsafeMutablePointer<CChar>?
      guard curl_url_get(parser, part, &text, 0) == CURLUE_OK, let text else { return nil }
      defer { curl_free(text) }
      return String(cString: text)
    }
    guard let scheme = part(CURLUPART_SCHEME), let host = part(CURLUPART_HOST), !host.isEmpty else { return nil }
    return (scheme, host, part(CURLUPART_PORT).flatMap(Int.init))
  }
}

/// The part of the response that has arrived, and libcurl's error message.
private final class Received {
  /// For all headers of a response, in bytes; libcurl's own limit is 300 KB, in versions that have one.
  private static let headerLimit = 131_072

  private let limit: Int
  private var headerSize = 0
  private(set) var body: [UInt8] = []
  /// The body was longer than the limit.
  private(set) var isTruncated = false
  let errorMessage = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  init(limit: Int) {
    self.limit = max(0, limit)
    errorMessage.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    errorMessage.deallocate()
  }

  var hasTooManyHeaders: Bool { headerSize > Self.headerLimit }

  /// Appends up to the limit; false ends the transfer.
  func appendBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let capacity = limit - body.count
    body.append(contentsOf: bytes.prefix(capacity))
    isTruncated = bytes.count > capacity
    return !isTruncated
  }

  /// Counts a header line; false ends the transfer.
  func countHeader(ofSize size: Int) -> Bool {
    headerSize += size
    return !hasTooManyHeaders
  }

  /// The object whose address libcurl passes to the callbacks.
  static func at(_ context: UnsafeMutableRawPointer?) -> Received? {
    context.map { Unmanaged<Received>.fromOpaque($0).takeUnretainedValue() }
  }
}

/// Sets the options of a transfer, and keeps the first error.
private struct CurlOptions {
  private let easy: UnsafeMutableRawPointer
  private(set) var firstError = CURLE_OK

  init(_ easy: UnsafeMutableRawPointer) {
    self.easy = easy
  }

  private mutating func check(_ code: CURLcode) {
    if firstError == CURLE_OK { firstError = code }
  }

  mutating func set(_ option: CURLoption, _ value: Int) {
    check(hw_curl_set_long(easy, option, value))
  }

  mutating func set(_ option: CURLoption, _ value: String) {
    check(hw_curl_set_text(easy, option, value))
  }

  /// libcurl does not copy the value, which must outlive the transfer.
  mutating func set(_ option: CURLoption, _ value: UnsafeMutablePointer<curl_slist>?) {
    check(hw_curl_set_pointer(easy, option, value))
  }

  /// The options that are the same for every transfer.
  mutating func setDefaults(trusting trust: HTTPTrust) {
    check(hw_curl_allow_http_only(easy))
    check(hw_curl_set_quick_exit(easy))
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_FOLLOWLOCATION, 0)
    // One request at a time gains nothing from HTTP/2, and a truncated response simply closes its connection.
    set(CURLOPT_HTTP_VERSION, 2 /* CURL_HTTP_VERSION_1_1 */)
    set(CURLOPT_SSL_VERIFYPEER, 1)
    set(CURLOPT_SSL_VERIFYHOST, 2)
    if let file = trust.file {
      set(CURLOPT_CAINFO, file)
      set(CURLOPT_PROXY_CAINFO, file)
    }
    if let directory = trust.directory {
      set(CURLOPT_CAPATH, directory)
      set(CURLOPT_PROXY_CAPATH, directory)
    }
  }

  mutating func set(_ request: HTTPRequest) {
    set(CURLOPT_URL, request.url)
    // Zero would select libcurl's defaults: five minutes, and no limit.
    set(CURLOPT_CONNECTTIMEOUT_MS, max(1, request.connectTimeout.wholeMilliseconds))
    set(CURLOPT_TIMEOUT_MS, max(1, request.totalTimeout.wholeMilliseconds))
    if request.method == "HEAD" {
      set(CURLOPT_NOBODY, 1)
    } else if let body = request.body ?? (["POST", "PUT", "PATCH"].contains(request.method) ? [] : nil) {
      check(hw_curl_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)))
      body.withUnsafeBytes { bytes in
        // Without any data libcurl would read the body from standard input.
        if let start = bytes.baseAddress, bytes.count > 0 {
          check(hw_curl_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, start))
        } else {
          set(CURLOPT_COPYPOSTFIELDS, "")
        }
      }
    }
    set(CURLOPT_CUSTOMREQUEST, request.method)
  }

  /// The place must outlive the connection.
  mutating func remember(connectionAt place: UnsafeMutablePointer<curl_socket_t>) {
    check(hw_curl_remember_connection(easy, place))
  }

  /// The receiver must outlive the transfer.
  mutating func set(receiver: Received) {
    let context = Unmanaged.passUnretained(receiver).toOpaque()
    check(hw_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, receiver.errorMessage))
    check(hw_curl_set_pointer(easy, CURLOPT_WRITEDATA, context))
    check(hw_curl_set_pointer(easy, CURLOPT_HEADERDATA, context))
    check(
      hw_curl_set_receiver(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
        let received = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return Received.at(context)?.appendBody(received) ?? false ? size * count : 0
      }
    )
    check(
      hw_curl_set_receiver(easy, CURLOPT_HEADERFUNCTION) { _, size, count, context in
        Received.at(context)?.countHeader(ofSize: size * count) ?? false ? size * count : 0
      }
    )
  }
}

extension HTTPFailure {
  fileprivate static let outOfMemory = HTTPFailure(code: .other, problem: "libcurl is out of memory")

  /// Describes a transfer without a response.
  ///
  /// libcurl's own message may contain a proxy's password, so it is used for TLS errors only.
  fileprivate init(
    _ code: CURLcode,
    of easy: UnsafeMutableRawPointer,
    _ received: Received,
    at address: HTTPAddress,
    mayUseProxy: Bool
  ) {
    let message = String(cString: received.errorMessage)
    let proxyStatus = CurlHandles.number(CURLINFO_HTTP_CONNECTCODE, of: easy)
    let systemError = CInt(CurlHandles.number(CURLINFO_OS_ERRNO, of: easy))
    let reason = systemError == 0 ? "" : ": \(ErrorNumber(systemError).text)"
    // The error may be the proxy's.
    let proxies = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    let hasProxy = mayUseProxy && proxies.contains { getenv($0) != nil }
    let proxyNote = hasProxy ? " (the environment sets a proxy)" : ""
    let (kind, problem): (Code, String) =
      switch code {
      case CURLE_URL_MALFORMAT: (.badURL, "libcurl cannot parse the URL")
      case CURLE_COULDNT_RESOLVE_HOST: (.unresolved, "cannot resolve the host `\(address.host)`")
      case CURLE_COULDNT_RESOLVE_PROXY: (.unresolved, "cannot resolve the proxy that the environment sets")
      case CURLE_COULDNT_CONNECT: (.refused, "cannot connect to \(address)\(reason)\(proxyNote)")
      case CURLE_OPERATION_TIMEDOUT: (.timedOut, "\(address) did not respond in time\(proxyNote)")
      case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CERTPROBLEM:
        (.untrusted, "the certificate of \(address) is not trusted: \(message)")
      case CURLE_SSL_CONNECT_ERROR: (.connectionLost, "the TLS handshake with \(address) failed: \(message)")
      case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: (.other, "the response of \(address) is not HTTP")
      case CURLE_WRITE_ERROR where received.hasTooManyHeaders:
        (.other, "the response headers of \(address) are longer than 128 KiB")
      case CURLE_RECV_ERROR where proxyStatus >= 300:
        (.connectionLost, "the proxy answered \(proxyStatus) to the request for \(address)")
      case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE:
        (.connectionLost, "\(address) closed the connection before the response was complete\(proxyNote)")
      default: (.other, "the request to \(address) failed: \(String(cString: curl_easy_strerror(code)))")
      }
    self.init(code: kind, problem: problem)
  }
}

extension Duration {
  /// Rounded up; at most about 23 days, which fits libcurl's `long` on every machine.
  fileprivate var wholeMilliseconds: Int {
    let (seconds, attoseconds) = components
    guard seconds < 2_000_000 else { return 2_000_000_000 }
    return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}
