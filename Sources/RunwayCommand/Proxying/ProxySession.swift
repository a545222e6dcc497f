import Foundation
import HTTPTypes
import Runway
import RunwayTransport

/// The server behind a proxy, whichever it is: it is judged by its status alone.
enum ProxiedServer: APIService {
    static let name = "proxy"
    // Every request is absolute.
    static let environments: [ServiceEnvironment: String] = [:]
    // A user who enters a URL without TLS accepts that.
    static let allowsPlainHTTP = true

    /// The verdict of the status; a redirect is returned to the client.
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

    let origin: CallTarget
    private let isCaching: Bool
    private let options: CallOptions
    private let redaction: Redaction
    private let network: NetworkLayer
    private let transport: NIOTransport

    /// Creates the layer.
    ///
    /// - Parameter appliesPolicies: Whether requests are refused and retried as those of an app are. Otherwise clients get the
    ///   origin's responses unchanged.
    /// - Throws: ``CommandFailure`` if certificates can't be read.
    init(
        to origin: CallTarget, cache: ProxyCache, appliesPolicies: Bool, timeout: Duration, isHTTP1Only: Bool,
        certificateAuthorityFile: String?,
        printer: RecordPrinter, redaction: Redaction
    ) throws(CommandFailure) {
        self.origin = origin
        self.redaction = redaction
        isCaching = cache == .http
        // All clients share the cache, and a cookie is for the client that it was set for.
        var policy = CachePolicy.http()
        policy.storesSetCookie = false
        options = CallOptions(cache: cache == .http ? policy : .off, retry: appliesPolicies ? .standard : .off)
        let configuration = TransportConfiguration(
            trust: try TransportConfiguration.Trust(cacert: certificateAuthorityFile),
            httpVersions: isHTTP1Only ? .http1Only : .automatic, connectTimeout: min(timeout, .seconds(10)),
            idleTimeout: timeout, maximumConnectionsPerOrigin: 64, isTransparent: true)
        do throws(NetworkError) {
            transport = try NIOTransport(configuration: configuration)
        } catch {
            throw CommandFailure("The file \"\(certificateAuthorityFile ?? "")\" can't be used: \(error.detail)")
        }
        var pipeline = RequestPipeline()
        pipeline.remove(.redirecting)
        pipeline.insert(ProxiedRequestStage(), before: .deadline)
        network = NetworkLayer(
            name: "proxy", transport: transport, pipeline: pipeline, sinks: [printer], redaction: redaction,
            limits: LayerLimits(
                cache: CacheLimits(
                    maximumHTTPByteCount: Self.maximumCacheByteCount,
                    maximumHTTPBodyByteCount: Self.maximumStoredByteCount),
                admission: appliesPolicies
                    ? AdmissionLimits() : AdmissionLimits(maximumIdenticalRequests: nil, circuitBreaker: nil)))
        network.configure(ProxiedServer.self) { $0.deadline = timeout }
    }

    /// Sends a request, and returns its response, whose body is streamed. A storable response is cached while it is streamed.
    func send(_ head: HTTPRequest, _ body: RequestBody) async throws(NetworkError) -> Response {
        let flight = network.makeExchange(with: ProxiedServer.self, options)
        var response = try await network.exchange(
            Request(head: head, body: body, delivery: .streamed), with: ProxiedServer.self, in: flight)
        if isCaching, let field = CacheStatus(of: response, to: head, flight.record(redaction)).field {
            response.head.headerFields.append(field)
        }
        return response
    }

    /// Cuts every connection to the origin, and prints the pending records.
    func end() async {
        await transport.shutdown(.cutting)
        await network.flushRecords()
    }
}
