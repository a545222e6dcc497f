import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTransport
import Synchronization

/// A network layer with all default stages for one call.
struct CallSession: Sendable {
    struct Options: Sendable {
        /// The maximum time to wait for the server.
        var timeout: Duration
        var redaction: Redaction
        var followsRedirects = true
        var cookies: [Cookie] = []
        /// The key and parameters that sign requests to the URL's origin; `nil` if requests are not signed.
        var signing: CallSigning?
    }

    struct Result: Sendable {
        /// The head of the response; `nil` if no response arrived.
        var head: HTTPResponse?
        var shown: ShownResponse?
        var isFine = false
        var error: (any Error)?
        var record: FlightRecord
        /// The size of the partial file before the last response was received, in bytes.
        var resumedByteCount = 0
        /// Whether nothing was downloaded, because the file already had the full length.
        var wasComplete = false
    }

    private let network: NetworkLayer
    /// The transport; `nil` if no request is sent.
    private let transport: NIOTransport?
    private let records = RecordHolder()

    init(_ options: Options, over transport: NIOTransport?) {
        self.transport = transport
        var pipeline = RequestPipeline()
        if !options.followsRedirects {
            pipeline.remove(.redirecting)
            pipeline.insert(AcceptedRedirects(), before: .deadline)
        }
        if let signing = options.signing { pipeline.insert(signing.stage, before: .signing) }
        network = NetworkLayer(
            name: "call", transport: transport ?? OfflineTransport(), pipeline: pipeline, sinks: [records],
            redaction: options.redaction)
        network.configure(CalledServer.self) { settings in
            settings.deadline = options.timeout
            guard let signing = options.signing else { return }
            // `SigningStage` signs only requests to the origin of a service, so the called origin becomes the origin of
            // this service.
            settings.environment = "called"
            settings.baseURLs["called"] = signing.origin
        }
        network.restore(options.cookies, of: CalledServer.self)
    }

    /// The cookies after the call, including the stored ones of the session.
    var cookies: [Cookie] { network.cookies(of: CalledServer.self) }

    /// Makes the call, and writes the body of its response.
    ///
    /// - Parameter sink: Returns the destination of the body for a response head. It may write the head.
    func send(
        _ request: Request, progress: CallProgress,
        to sink: @Sendable (_ head: HTTPResponse, _ isFine: Bool) throws -> ResponseSink
    ) async -> Result? {
        var head: HTTPResponse?
        var shown: ShownResponse?
        var isFine = false
        var failure: (any Error)?
        do {
            // The end of this scope releases the response, and closes its record even if the body was not read.
            let response = try await network.exchange(request, with: CalledServer.self)
            head = response.head
            isFine = response.verdict == .fine
            progress.began(response.head)
            let body: BodyStream =
                switch response.body {
                case .stream(let body): body
                case .whole(let rawData): BodyStream(rawData.bytes)
                }
            shown = try await sink(response.head, isFine).consume(body, of: response.head, progress: progress)
        } catch {
            failure = error
        }
        guard let record = await end() else { return nil }
        let error = failure ?? record.outcome.error ?? shown?.jsonFault.map { NetworkError($0, status: head?.status) }
        return Result(head: head, shown: shown, isFine: isFine, error: error, record: record)
    }

    /// Makes the call, and saves the body of its response. Continues an interrupted download of the same URL. Downloads
    /// nothing if the file already has the full length.
    func download(_ request: Request, to path: String, progress: CallProgress) async -> Result? {
        var file: DownloadedFile?
        var probed: HTTPResponse?
        var failure: (any Error)?
        let isNew = OutputFile.isFree(path)
        let replaced = ReplacedFile(path: path)
        let hasPart = ReplacedFile(path: path + ".part").map { $0.byteCount > 0 } ?? false
        do {
            if let replaced, replaced.byteCount > 0, !hasPart {
                probed = try await probe(replaced, request)
            }
            if probed == nil {
                file = try await network.download(request, with: CalledServer.self, to: URL(fileURLWithPath: path)) {
                    progress.reached($0)
                }
                if isNew { OutputFile.share(path) }
            }
        } catch {
            failure = error
        }
        guard let record = await end() else { return nil }
        if let probed, probed.status == .rangeNotSatisfiable {
            return Result(head: probed, shown: .saved(path: path), isFine: true, record: record, wasComplete: true)
        }
        // If the server refused the request that asks for further bytes, the record of that request contains the error.
        return Result(
            head: probed ?? file?.response, shown: file.map { .saved(path: $0.url.path) }, isFine: file != nil,
            error: failure ?? record.outcome.error, record: record, resumedByteCount: file?.resumedByteCount ?? 0)
    }

    /// Requests the bytes after the end of a file, if the resource has not changed since then. A server without further
    /// bytes responds with status 416 and the length (RFC 9110 §15.5.17). This proves only the length, since a server
    /// may ignore `If-Unmodified-Since`.
    ///
    /// The body is released unread, since without a validator no bytes may be appended to the file.
    ///
    /// - Returns: The head of the response with status 416, or with status 401 or 403. After 401 and 403 the same
    ///   credentials are not sent again, since the server may count failed attempts. `nil` if the file must be
    ///   downloaded.
    private func probe(_ file: ReplacedFile, _ request: Request) async throws(NetworkError) -> HTTPResponse? {
        var request = request
        // A request with these fields asks for a range itself, so the bytes after the end of the file are not requested
        // separately.
        if request.head.headerFields.contains(.range) || request.head.headerFields.contains(.ifRange) { return nil }
        request.head.headerFields[.range] = "bytes=\(file.byteCount)-"
        request.head.headerFields[.ifUnmodifiedSince] = HTTPDate(file.date).text
        request.head.headerFields[.acceptEncoding] = "identity"
        let head = try await network.exchange(
            request, with: CalledServer.self, options: CallOptions(cache: .off, retry: .standard)
        ).head
        let isEnd =
            switch head.status {
            case .rangeNotSatisfiable: head.headerFields[.contentRange] == "bytes */\(file.byteCount)"
            default: head.status.concernsAccount
            }
        return isEnd ? head : nil
    }

    private func end() async -> FlightRecord? {
        // A cancelled call has a record, too. A task of its own waits for it, since a cancelled task can't.
        await Task { await network.flushRecords() }.value
        await transport?.shutdown(waitingAtMost: .zero)
        return records.record
    }
}

extension NetworkError {
    /// Creates the error for a body that its media type declares as JSON, but that is not valid JSON.
    fileprivate init(_ fault: JSONError, status: HTTPResponse.Status?) {
        self.init(
            .invalidResponse, in: .checking,
            "The body can't be read as the JSON that its Content-Type names. \(fault)".oneLine, status: status,
            underlying: fault)
    }
}

private final class RecordHolder: EventSink {
    /// Guards the record of the call; `nil` until the record arrives.
    private let received = Mutex<FlightRecord?>(nil)

    var record: FlightRecord? { received.withLock { $0 } }

    func receive(_ record: FlightRecord) { received.withLock { $0 = record } }
}

/// Treats redirects as successes, for calls that do not follow redirects.
private struct AcceptedRedirects: RequestStage {
    var step: FlightStep { .customStage("following") }
    var endsInTime: Bool { true }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        var response = try await next.send(request, in: flight)
        if response.verdict == .redirected { response.verdict = .fine }
        return response
    }
}

/// Any server. Only the status decides whether a response is a success.
enum CalledServer: APIService {
    static let name = "call"
    // A base URL is not needed, since the URL on the command line is absolute.
    static let environments: [ServiceEnvironment: String] = [:]
    // A user who enters an `http` URL accepts plain text.
    static let allowsPlainHTTP = true
    // Cookies apply to the requests of redirects, and to all calls of one session.
    static let cookies: CookiePolicy = .jar()

    static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
        // There is no token to renew, so status 401 refuses the user name and password.
        head.status == .unauthorized ? .refused : Verdict(status: head.status, headerFields: head.headerFields)
    }
}

/// Ends every request before it is sent. The record shows the request that would have been sent.
struct OfflineTransport: Transport {
    func endsInTime(_ request: Request) -> Bool { true }

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        Response(head: HTTPResponse(status: .noContent), body: .whole(RawData([])))
    }
}
