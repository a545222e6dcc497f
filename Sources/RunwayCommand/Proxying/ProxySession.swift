import Foundation
import HTTPTypes
import Runway
import RunwayTransport

/// Any server behind a proxy. Only the status decides whether a response is a success.
enum ProxiedServer: APIService {
    static let name = "proxy"
    // A base URL is not needed, since every request is absolute.
    static let environments: [ServiceEnvironment: String] = [:]
    // A user who enters an `http` URL accepts plain text.
    static let allowsPlainHTTP = true

    /// Judges a response by its status. A redirect is a success, and is forwarded to the client.
    static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
        let verdict = Verdict(status: head.status, headerFields: head.headerFields)
        return verdict == .redirected ? .fine : verdict
    }
}

/// The network layer through which a proxy forwards requests.
struct ProxySession: Sendable {
    static let maximumStoredByteCount = 16 << 20
    /// The maximum size of all cached responses together.
    static let maximumCacheByteCount = 64 << 20

    /// The server of a reverse proxy; `nil` for a forward proxy.
    let origin: CallTarget?
    private let isCaching: Bool
    private let options: CallOptions
    private let redaction: Redaction
    private let network: NetworkLayer
    private let transport: NIOTransport

    struct Options: Sendable {
        var cache: ProxyCache
        /// The names of request fields that identify a client, in addition to fields with secret names.
        var authenticatingFields: Set<String> = []
        /// Whether the layer's rules for failures and retries apply, as in an app. Otherwise clients receive the
        /// servers' responses unchanged.
        var appliesPolicies: Bool
        var timeout: Duration
        var isHTTP1Only: Bool
        var certificateAuthorityFile: String?
        var redaction: Redaction
    }

    /// Creates the layer.
    ///
    /// - Parameters:
    ///   - origin: The server of a reverse proxy; `nil` for a forward proxy.
    ///   - targets: The servers that a forward proxy may connect to.
    /// - Throws: ``CommandFailure`` if certificates can't be read.
    init(
        to origin: CallTarget?, among targets: ForwardTargets?, _ settings: Options, printer: RecordPrinter
    ) throws(CommandFailure) {
        self.origin = origin
        redaction = settings.redaction
        isCaching = settings.cache == .http
        // Responses that set cookies are not stored, since all clients share the cache, but a cookie belongs to one
        // client.
        var policy = CachePolicy.http()
        policy.storesSetCookie = false
        options = CallOptions(cache: isCaching ? policy : .off, retry: settings.appliesPolicies ? .standard : .off)
        let configuration = TransportConfiguration(
            trust: try TransportConfiguration.Trust(cacert: settings.certificateAuthorityFile),
            usesHTTP2: !settings.isHTTP1Only,
            connectTimeout: min(settings.timeout, .seconds(10)),
            idleTimeout: settings.timeout, maximumConnectionsPerOrigin: 64, isTransparent: true)
        transport = try NIOTransport(configuration, cacert: settings.certificateAuthorityFile)
        var pipeline = RequestPipeline()
        pipeline.remove(.redirecting)
        if let captures = printer.captures { pipeline.insert(BodyCaptureStage(captures: captures), before: .deadline) }
        // `ProxiedRequestStage` is above the stage that may read bodies, so that every request is recorded first.
        pipeline.insert(ProxiedRequestStage(), before: .deadline)
        if let targets { pipeline.insert(CheckedTargetStage(targets: targets), after: .judging) }
        network = NetworkLayer(
            name: "proxy", transport: transport, pipeline: pipeline, sinks: [printer], redaction: settings.redaction,
            limits: LayerLimits(
                cache: CacheLimits(
                    maximumHTTPByteCount: Self.maximumCacheByteCount,
                    maximumHTTPBodyByteCount: Self.maximumStoredByteCount),
                admission: settings.appliesPolicies
                    ? AdmissionLimits() : AdmissionLimits(maximumIdenticalRequests: nil, circuitBreaker: nil)))
        network.configure(ProxiedServer.self) {
            $0.deadline = settings.timeout
            $0.authenticatingFields = settings.authenticatingFields
        }
    }

    /// Sends a request, and returns its response with a streamed body. A storable response is cached meanwhile.
    func send(_ head: HTTPRequest, _ body: RequestBody) async throws(NetworkError) -> Response {
        let flight = network.makeExchange(with: ProxiedServer.self, options)
        var response = try await network.exchange(
            Request(head: head, body: body, delivery: .streamed), with: ProxiedServer.self, in: flight)
        if isCaching, let field = CacheStatus(of: response, to: head, flight.record(redaction)).field {
            response.head.headerFields.append(field)
        }
        return response
    }

    /// Closes every connection to a server, and prints the pending records.
    func end() async {
        await transport.shutdown(waitingAtMost: .zero)
        await network.flushRecords()
    }
}
