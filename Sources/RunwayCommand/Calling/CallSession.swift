import HTTPTypes
import Runway
import RunwayJSON
import RunwayTransport
import Synchronization

/// The server of a call, whichever it is: a response is judged by its status alone.
enum CalledServer: APIService {
    static let name = "call"
    // The URL on the command line is absolute.
    static let environments: [ServiceEnvironment: String] = [:]
    // A user who enters a URL without TLS accepts that.
    static let allowsPlainHTTP = true
}

/// A network layer with all default stages that lives for one call.
struct CallSession: Sendable {
    /// How the call is made.
    struct Options: Sendable {
        var timeout: Duration
        var certificateAuthorityFile: String?
        var isHTTP1Only: Bool
        var redaction: Redaction
    }

    /// What became of the call.
    struct Result: Sendable {
        /// The head of the response, if there was one.
        var head: HTTPResponse?
        /// What became of its body.
        var shown: ShownResponse?
        /// Whether the service judged the response fine.
        var isFine = false
        /// The error of the call; `nil` if it succeeded.
        var error: (any Error)?
        var record: FlightRecord
    }

    private let network: NetworkLayer
    private let transport: NIOTransport
    private let keeper = RecordHolder()

    /// Creates the layer.
    ///
    /// - Throws: ``CommandFailure`` if certificates can't be read.
    init(_ options: Options) throws(CommandFailure) {
        let configuration = TransportConfiguration(
            trust: try TransportConfiguration.Trust(cacert: options.certificateAuthorityFile),
            httpVersions: options.isHTTP1Only ? .http1Only : .automatic,
            connectTimeout: min(options.timeout, .seconds(10)), idleTimeout: options.timeout)
        do throws(NetworkError) {
            transport = try NIOTransport(configuration: configuration)
        } catch {
            throw CommandFailure(
                "The file \"\(options.certificateAuthorityFile ?? "")\" can't be used: \(error.detail)")
        }
        network = NetworkLayer(name: "call", transport: transport, sinks: [keeper], redaction: options.redaction)
        network.configure(CalledServer.self) { $0.deadline = options.timeout }
    }

    /// Makes the call, and writes the body of its response.
    ///
    /// - Parameter sink: Returns where the body is written once its head is known; may write the head.
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
        // In a task of its own: a cancelled call has a record too, and a cancelled task can't wait for it.
        await Task { await network.flushRecords() }.value
        await transport.shutdown(.cutting)
        guard let record = keeper.record else { return nil }
        let error = failure ?? record.outcome.error ?? shown?.jsonFault.map { NetworkError($0, status: head?.status) }
        return Result(head: head, shown: shown, isFine: isFine, error: error, record: record)
    }
}

extension NetworkError {
    /// The error of a response whose body is not the JSON that its media type names.
    fileprivate init(_ fault: JSONError, status: HTTPResponse.Status?) {
        self.init(
            .invalidResponse, in: .checking,
            "The body can't be read as the JSON that its Content-Type names. \(fault)".oneLine, status: status,
            underlying: fault)
    }
}

/// Stores the record of the one call.
private final class RecordHolder: EventSink {
    /// Guards the record.
    private let received = Mutex<FlightRecord?>(nil)

    var record: FlightRecord? { received.withLock { $0 } }

    func receive(_ record: FlightRecord) { received.withLock { $0 = record } }
}
