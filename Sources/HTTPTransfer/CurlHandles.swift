private import CURL
private import Glibc

/// libcurl's two handles: the transfer, and the loop that drives it and keeps connections for the next one.
///
/// The one door to libcurl. The loop is our own since `curl_easy_perform` may look up only once a second whether a
/// transfer was called off.
struct CurlHandles: ~Copyable {
  private let easy: UnsafeMutableRawPointer?
  private let multi: UnsafeMutableRawPointer?

  /// Starts the library once for the process (curl_global_init(3)).
  private static let libraryStarted = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  init() {
    let started = Self.libraryStarted
    easy = started ? curl_easy_init() : nil
    multi = started ? curl_multi_init() : nil
  }

  deinit {
    if let easy { curl_easy_cleanup(easy) }
    if let multi { curl_multi_cleanup(multi) }
  }

  /// Sends a checked request and waits for the answer.
  func perform(
    _ request: HTTPRequest,
    to address: HTTPAddress,
    trusting trust: HTTPTrust,
    isCancelled: () -> Bool
  ) throws(HTTPFailure) -> HTTPAnswer {
    guard let easy, let multi else {
      throw HTTPFailure(code: .other, problem: "libcurl could not be started")
    }
    guard request.totalTimeout > .zero else {
      throw HTTPFailure(code: .timedOut, problem: "no time was left to ask \(address)")
    }
    let received = Received(limit: request.maximumAnswer)
    var headers: UnsafeMutablePointer<curl_slist>?
    defer {
      // The handle must not keep addresses of what ends with this call.
      curl_easy_reset(easy)
      curl_slist_free_all(headers)
    }
    for line in request.lines {
      guard let longer = curl_slist_append(headers, line) else { throw .outOfMemory }
      headers = longer
    }
    var options = CurlOptions(easy)
    options.setRules(trusting: trust)
    options.set(request)
    options.set(CURLOPT_HTTPHEADER, headers)
    options.set(receiver: received)
    guard options.firstFault == CURLE_OK else { throw .refusedOption(options.firstFault) }

    let code = try withExtendedLifetime(received) { () throws(HTTPFailure) in
      try Self.drive(easy, in: multi, address, isCancelled)
    }
    guard code == CURLE_OK || received.wasCut else {
      throw CurlFault(code, of: easy, received).failure(at: address)
    }
    return Self.answer(of: easy, received)
  }

  /// Runs one transfer to its end, asking ten times a second whether it is still wanted.
  private static func drive(
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
      if isCancelled() {
        throw HTTPFailure(code: .cancelled, problem: "the request to \(address) was called off")
      }
      guard curl_multi_poll(multi, nil, 0, 100, nil) == CURLM_OK else { throw .outOfMemory }
    }
    var waiting: CInt = 0
    while let message = curl_multi_info_read(multi, &waiting) {
      if message.pointee.msg == CURLMSG_DONE { return message.pointee.data.result }
    }
    throw HTTPFailure(code: .other, problem: "libcurl gave no result of the request to \(address)")
  }

  private static func answer(of easy: UnsafeMutableRawPointer, _ received: Received) -> HTTPAnswer {
    var seconds: curl_off_t = 0
    let known = hw_curl_get_offset(easy, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK && seconds > 0
    return HTTPAnswer(
      status: CurlFault.number(CURLINFO_RESPONSE_CODE, of: easy),
      body: received.body,
      retryAfter: known ? .seconds(min(seconds, 86_400 * 365)) : nil
    )
  }

  /// Takes a URL apart with libcurl's own reader, so that what is checked is what is asked.
  static func parts(ofURL url: String) -> (scheme: String, host: String, port: Int?)? {
    guard let reader = curl_url() else { return nil }
    defer { curl_url_cleanup(reader) }
    guard curl_url_set(reader, CURLUPART_URL, url, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK else { return nil }
    func part(_ part: CURLUPart) -> String? {
      var text: UnsafeMutablePointer<CChar>?
      guard curl_url_get(reader, part, &text, 0) == CURLUE_OK, let text else { return nil }
      defer { curl_free(text) }
      return String(cString: text)
    }
    guard let scheme = part(CURLUPART_SCHEME), let host = part(CURLUPART_HOST), !host.isEmpty else { return nil }
    return (scheme, host, part(CURLUPART_PORT).flatMap(Int.init))
  }
}

/// What has come of an answer so far, and libcurl's own words where it failed.
private final class Received {
  /// Headers of an answer that a server may send in all; libcurl's own limit is 300 KB, where it has one.
  private static let headerLimit = 131_072

  private let limit: Int
  private var headerCount = 0
  private(set) var body: [UInt8] = []
  /// The answer was longer than what is kept.
  private(set) var wasCut = false
  private(set) var headersWereTooLong = false
  let words = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  init(limit: Int) {
    self.limit = max(0, limit)
    words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    words.deallocate()
  }

  /// Keeps what there is room for; false once nothing more is wanted.
  func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let room = limit - body.count
    body.append(contentsOf: bytes.prefix(room))
    wasCut = bytes.count > room
    return !wasCut
  }

  /// Counts a line of the head; false once there were too many.
  func takeHeader(ofLength length: Int) -> Bool {
    headerCount += length
    headersWereTooLong = headerCount > Self.headerLimit
    return !headersWereTooLong
  }

  /// The object behind the address that libcurl hands back.
  static func behind(_ context: UnsafeMutableRawPointer?) -> Received? {
    context.map { Unmanaged<Received>.fromOpaque($0).takeUnretainedValue() }
  }
}

/// Sets options of a transfer, and remembers the first that libcurl refused.
private struct CurlOptions {
  private let easy: UnsafeMutableRawPointer
  private(set) var firstFault = CURLE_OK

  init(_ easy: UnsafeMutableRawPointer) {
    self.easy = easy
  }

  private mutating func note(_ code: CURLcode) {
    if firstFault == CURLE_OK { firstFault = code }
  }

  mutating func set(_ option: CURLoption, _ value: Int) {
    note(hw_curl_set_long(easy, option, value))
  }

  mutating func set(_ option: CURLoption, _ value: String) {
    note(hw_curl_set_text(easy, option, value))
  }

  /// What is set stays the caller's and must outlive the transfer.
  mutating func set(_ option: CURLoption, _ value: UnsafeMutablePointer<curl_slist>?) {
    note(hw_curl_set_pointer(easy, option, value))
  }

  /// The rules that hold for every transfer.
  mutating func setRules(trusting trust: HTTPTrust) {
    note(hw_curl_allow_http_only(easy))
    note(hw_curl_leave_resolver_behind(easy))
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_FOLLOWLOCATION, 0)
    // One request at a time gains nothing from HTTP/2, and a cut answer simply closes its connection.
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
    // libcurl takes 0 for its own defaults: five minutes, and forever.
    set(CURLOPT_CONNECTTIMEOUT_MS, max(1, request.connectTimeout.wholeMilliseconds))
    set(CURLOPT_TIMEOUT_MS, max(1, request.totalTimeout.wholeMilliseconds))
    if request.method == "HEAD" {
      set(CURLOPT_NOBODY, 1)
    } else if let body = request.body ?? (["POST", "PUT", "PATCH"].contains(request.method) ? [] : nil) {
      note(hw_curl_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)))
      body.withUnsafeBytes { bytes in
        // Nothing at all would make libcurl read the body from standard input.
        if let start = bytes.baseAddress, bytes.count > 0 {
          note(hw_curl_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, start))
        } else {
          set(CURLOPT_COPYPOSTFIELDS, "")
        }
      }
    }
    set(CURLOPT_CUSTOMREQUEST, request.method)
  }

  /// The receiver must outlive the transfer.
  mutating func set(receiver: Received) {
    let context = Unmanaged.passUnretained(receiver).toOpaque()
    note(hw_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, receiver.words))
    note(hw_curl_set_pointer(easy, CURLOPT_WRITEDATA, context))
    note(hw_curl_set_pointer(easy, CURLOPT_HEADERDATA, context))
    note(
      hw_curl_set_receiver(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
        let received = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return Received.behind(context)?.take(received) ?? false ? size * count : 0
      }
    )
    note(
      hw_curl_set_receiver(easy, CURLOPT_HEADERFUNCTION) { _, size, count, context in
        Received.behind(context)?.takeHeader(ofLength: size * count) ?? false ? size * count : 0
      }
    )
  }
}

/// A transfer that gave no answer, with what libcurl knows of it.
private struct CurlFault {
  private let code: CURLcode
  private let headersWereTooLong: Bool
  /// libcurl's own words; they may hold a proxy's password, so only those about certificates are shown.
  private let words: String
  private let systemError: Int
  private let proxyStatus: Int

  init(_ code: CURLcode, of easy: UnsafeMutableRawPointer, _ received: Received) {
    self.code = code
    headersWereTooLong = received.headersWereTooLong
    words = String(cString: received.words)
    systemError = Self.number(CURLINFO_OS_ERRNO, of: easy)
    proxyStatus = Self.number(CURLINFO_HTTP_CONNECTCODE, of: easy)
  }

  static func number(_ info: CURLINFO, of easy: UnsafeMutableRawPointer) -> Int {
    var value = 0
    return hw_curl_get_long(easy, info, &value) == CURLE_OK ? value : 0
  }

  func failure(at address: HTTPAddress) -> HTTPFailure {
    let (kind, problem) = explanation(address)
    return HTTPFailure(code: kind, problem: problem)
  }

  private func explanation(_ address: HTTPAddress) -> (HTTPFailure.Code, String) {
    switch code {
    case CURLE_URL_MALFORMAT:
      return (.badURL, "libcurl cannot read the URL")
    case CURLE_COULDNT_RESOLVE_HOST:
      return (.unresolved, "no address is known for the host `\(address.host)`")
    case CURLE_COULDNT_RESOLVE_PROXY:
      return (.unresolved, "no address is known for the proxy that the environment names")
    case CURLE_COULDNT_CONNECT:
      return (.refused, "cannot connect to \(address)\(systemWords)\(proxyRemark)")
    case CURLE_OPERATION_TIMEDOUT:
      return (.timedOut, "\(address) gave no answer in time\(proxyRemark)")
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CERTPROBLEM:
      return (.untrusted, "the certificate of \(address) is not trusted: \(words)")
    case CURLE_SSL_CONNECT_ERROR:
      return (.connectionLost, "the TLS handshake with \(address) failed: \(words)")
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY:
      return (.other, "what \(address) answered is not HTTP")
    case CURLE_WRITE_ERROR where headersWereTooLong:
      return (.other, "the headers that \(address) answered are too long")
    case CURLE_RECV_ERROR where proxyStatus >= 300:
      return (.connectionLost, "the proxy answered \(proxyStatus) when asked for \(address)")
    case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE:
      return (.connectionLost, "\(address) ended the connection before its answer was complete\(proxyRemark)")
    default:
      return (.other, "asking \(address) failed: \(String(cString: curl_easy_strerror(code)))")
    }
  }

  private var systemWords: String {
    systemError == 0 ? "" : ": \(String(cString: strerror(Int32(systemError))))"
  }

  /// Points at a proxy where there could be one, since the fault may be its own.
  private var proxyRemark: String {
    let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    return names.contains { getenv($0) != nil } ? " (the environment names a proxy)" : ""
  }
}

extension HTTPFailure {
  fileprivate static let outOfMemory = HTTPFailure(code: .other, problem: "libcurl has no memory left")

  fileprivate static func refusedOption(_ code: CURLcode) -> HTTPFailure {
    HTTPFailure(code: .other, problem: "libcurl refused an option: \(String(cString: curl_easy_strerror(code)))")
  }
}

extension Duration {
  /// Rounded up; a month at most, which libcurl can still count on every machine.
  fileprivate var wholeMilliseconds: Int {
    let (seconds, attoseconds) = components
    guard seconds < 2_000_000 else { return 2_000_000_000 }
    return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}
