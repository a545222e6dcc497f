import Foundation
import HTTPTypes
import Runway
import RunwayTransport

/// The server behind a proxy, any server: a response is judged only by its status.
enum ProxiedServer: APIService {
    static let name = "proxy"
    // Every request is absolute.
    static let environments: [ServiceEnvironment: String] = [:]
    // A user who enters a URL without TLS accepts that.
    static let allowsPlainHTTP = true

    /// Returns the verdict of the status; a redirect is returned to the client.
    static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
        let verdict = Verdict(status: head.status, headerFields: head.headerFields)
        return verdict == .redirected ? .fine : verdict
    }
}

/// The layer that a proxy's requests pass.
struct ProxySession: Sendable {
    /// The most bytes of a response that is cached.
    static let maximumStoredByteCount = 16 << 20
    /// The most bytes of all cached responses.
    static let maximumCacheByteCount = 64 << 20

    /// The one server; `nil` for a forward proxy.
    let origin: CallTarget?
    private let isCaching: Bool
    private let options: CallOptions
    private let redaction: Redaction
    private let network: NetworkLayer
    private let transport: NIOTransport

    /// Settings for the treatment of requests by a proxy.
    struct Options: Sendable {
        var cache: ProxyCache
        /// The names of request fields that separate clients, in addition to fields with secret names.
        var authenticatingFields: Set<String> = []
        /// Whether requests are refused and retried like an app's. Otherwise clients receive the servers' responses
        /// unchanged.
        var appliesPolicies: Bool
        var timeout: Duration
        var isHTTP1Only: Bool
        var certificateAuthorityFile: String?
        var redaction: Redaction
    }

    /// Creates the layer.
    ///
    /// - Parameters:
    ///   - origin: The one server; `nil` for a forward proxy.
    ///   - targets: The servers of a forward proxy.
    /// - Throws: ``CommandFailure`` if certificates can't be read.
    init(
        to origin: CallTarget?, among targets: ForwardTargets?, _ settings: Options, printer: RecordPrinter
    ) throws(CommandFailure) {
        self.origin = origin
        redaction = settings.redaction
        isCaching = settings.cache == .http
        // All clients share the cache, and a cookie is for the client that it was set for.
        var policy = CachePolicy.http()
        policy.storesSetCookie = false
        options = CallOptions(cache: isCaching ? policy : .off, retry: settings.appliesPolicies ? .standard : .off)
        let configuration = TransportConfiguration(
            trust: try TransportConfiguration.Trust(cacert: settings.certificateAuthorityFile),
            httpVersions: settings.isHTTP1Only ? .http1Only : .automatic,
            connectTimeout: min(settings.timeout, .seconds(10)),
            idleTimeout: settings.timeout, maximumConnectionsPerOrigin: 64, isTransparent: true)
        transport = try NIOTransport(configuration, cacert: settings.certificateAuthorityFile)
        var pipeline = RequestPipeline()
        pipeline.remove(.redirecting)
        if let captures = printer.captures { pipeline.insert(BodyCaptureStage(captures: captures), before: .deadline) }
        // Above the other, whose bodies may have to be read: every request is noted before.
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

    /// Sends a request, and returns its response, whose body is streamed. A storable response is cached while it is
    /// streamed.
    func send(_ head: HTTPRequest, _ body: RequestBody) async throws(NetworkError) -> Response {
        let flight = network.makeExchange(with: ProxiedServer.self, options)
        var response = try await network.exchange(
            Request(head: head, body: body, delivery: .streamed), with: ProxiedServer.self, in: flight)
        if isCaching, let field = CacheStatus(of: response, to: head, flight.record(redaction)).field {
            response.head.headerFields.append(field)
        }
        return response
    }

    /// Cuts every connection to a server, and prints the pending records.
    func end() async {
        await transport.shutdown(.cutting)
        await network.flushRecords()
    }
}
