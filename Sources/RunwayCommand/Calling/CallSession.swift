import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTransport
import Synchronization

/// A network layer with all default stages that lives for one call.
struct CallSession: Sendable {
    /// Settings of a call.
    struct Options: Sendable {
        /// The longest wait for the server.
        var timeout: Duration
        var redaction: Redaction
        /// Whether redirects are followed.
        var followsRedirects = true
        /// The cookies of a session.
        var cookies: [Cookie] = []
        /// The keys and parameters that sign requests to the URL's origin; `nil` if they are not signed.
        var signing: CallSigning?
    }

    /// The outcome of the call.
    struct Result: Sendable {
        /// The head of the response, if there was one.
        var head: HTTPResponse?
        /// The outcome of showing or storing the body.
        var shown: ShownResponse?
        /// Whether the service judged the response a success.
        var isFine = false
        /// The error of the call; `nil` if it succeeded.
        var error: (any Error)?
        var record: FlightRecord
        /// The number of bytes in the file before the last response.
        var resumedByteCount = 0
        /// Whether the file was as long as the server's, so that nothing was downloaded.
        var wasComplete = false
    }

    private let network: NetworkLayer
    /// The transport; `nil` if no request is sent.
    private let transport: NIOTransport?
    private let records = RecordHolder()

    /// Creates the layer.
    ///
    /// - Parameter transport: The transport; `nil` if nothing is sent.
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
            // Only the origin of a service gets signatures.
            settings.environment = "called"
            settings.baseURLs["called"] = signing.origin
        }
        network.restore(options.cookies, of: CalledServer.self)
    }

    /// The cookies after the call, including those of a session.
    var cookies: [Cookie] { network.cookies(of: CalledServer.self) }

    /// Makes the call, and writes the body of its response.
    ///
    /// - Parameter sink: Returns the destination of the body once the head is known; may write the head.
    func send(
        _ request: Request, progress: CallProgress,
        to sink: @Sendable (_ head: HTTPResponse, _ isFine: Bool) throws -> ResponseSink
    ) async -> Result? {
        var head: HTTPResponse?
        var shown: ShownResponse?
        var isFine = false
        var failure: (any Error)?
        do {
            // The response is released at the end of this scope, so that its record is closed whatever was read of it.
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

    /// Makes the call, and saves the body of its response. Continues an interrupted download of the same URL, and
    /// downloads nothing if the file is as long as the server's.
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
        // The error of a refused probe is the error of its record.
        return Result(
            head: probed ?? file?.response, shown: file.map { .saved(path: $0.url.path) }, isFine: file != nil,
            error: failure ?? record.outcome.error, record: record, resumedByteCount: file?.resumedByteCount ?? 0)
    }

    /// Requests the bytes after the end of a file, if it has not changed since. A server that has no more bytes refuses
    /// with status 416 and the length (RFC 9110 §15.5.17). That proves only the length, since a server may ignore
    /// `If-Unmodified-Since`.
    ///
    /// The body is released unread: without a validator of the file, no bytes may be added to it.
    ///
    /// - Returns: The head of that refusal, or of a response with status 401 or 403: the same credentials are not sent
    ///   again, since the server may count failed attempts. `nil` if the file has to be downloaded.
    private func probe(_ file: ReplacedFile, _ request: Request) async throws(NetworkError) -> HTTPResponse? {
        var request = request
        // The download says that these fields are its own.
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

    /// Closes the connections, and returns the record of the call.
    private func end() async -> FlightRecord? {
        // In a task of its own: a cancelled call has a record too, and a cancelled task can't wait for it.
        await Task { await network.flushRecords() }.value
        await transport?.shutdown(.cutting)
        return records.record
    }
}

extension NetworkError {
    /// Creates the error of a response whose body is not the JSON that its media type declares.
    fileprivate init(_ fault: JSONError, status: HTTPResponse.Status?) {
        self.init(
            .invalidResponse, in: .checking,
            "The body can't be read as the JSON that its Content-Type names. \(fault)".oneLine, status: status,
            underlying: fault)
    }
}

/// Stores the record of the session's call.
private final class RecordHolder: EventSink {
    /// Guards the record.
    private let received = Mutex<FlightRecord?>(nil)

    var record: FlightRecord? { received.withLock { $0 } }

    func receive(_ record: FlightRecord) { received.withLock { $0 = record } }
}

/// Judges redirects as successes, for calls that do not follow redirects.
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

/// The server of a call, any server: a response is judged only by its status.
enum CalledServer: APIService {
    static let name = "call"
    // The URL on the command line is absolute.
    static let environments: [ServiceEnvironment: String] = [:]
    // A user who enters a URL without TLS accepts that.
    static let allowsPlainHTTP = true
    // For the requests of redirects, and of the calls of one session.
    static let cookies: CookiePolicy = .jar()

    static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
        // The refused credentials may be a name and a password; the layer has no token to renew.
        head.status == .unauthorized ? .refused : Verdict(status: head.status, headerFields: head.headerFields)
    }
}

/// Ends every request before it is sent, so that the record shows the request that would have been sent.
struct OfflineTransport: Transport {
    func endsInTime(_ request: Request) -> Bool { true }

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        Response(head: HTTPResponse(status: .noContent), body: .whole(RawData([])))
    }
}
