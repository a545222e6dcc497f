import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Synchronization

/// A service that merges.
enum Merged: APIService {
    static let name = "merged"
    static let environments: [ServiceEnvironment: String] = [
        .release: "https://merged.test/v1", .development: "https://dev.merged.test/v1",
    ]
    static let merging: MergePolicy? = MergePolicy(settling: .zero)
    static let deadline = Duration.seconds(3600)

    /// A response with `"code"` is judged by it; one without is judged by its status.
    static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
        let verdict = Verdict(status: head.status, headerFields: head.headerFields)
        guard verdict == .fine, let code = rawData?["code"].int, code != 0 else { return verdict }
        return code == 401 ? .tokenRefused : .failed(ServiceError(code: "\(code)"), isAbsorbed: false)
    }
}

/// A read of any path.
struct Read: Endpoint {
    static let service = Merged.self
    var path: EndpointPath
    var headers: [String: String] = [:]
    init(_ path: EndpointPath, headers: [String: String] = [:]) {
        self.path = path
        self.headers = headers
    }
    func encode(to encoder: any Encoder) {}
}

/// A read with a deadline of three seconds.
struct HastyRead: Endpoint {
    static let service = Merged.self
    static let deadline: Duration? = .seconds(3)
    var path: EndpointPath
    func encode(to encoder: any Encoder) {}
}

/// A read whose response may have ten bytes.
struct SmallRead: Endpoint {
    static let service = Merged.self
    static let maximumResponseByteCount = 10
    var path: EndpointPath
    func encode(to encoder: any Encoder) {}
}

/// A read that is sent alone.
struct LonelyRead: Endpoint {
    static let service = Merged.self
    static let isMergeable = false
    var path: EndpointPath
    func encode(to encoder: any Encoder) {}
}

/// A change with any body.
struct Write: Endpoint {
    static let service = Merged.self
    static let method = HTTPRequest.Method.post
    static let encoding = ParameterEncoding.raw(contentType: "application/octet-stream")
    var path: EndpointPath { "write" }
    var content: RequestBody
    func encode(to encoder: any Encoder) {}
}

/// A server in the process, which responds to every request with its path, also in envelopes.
///
/// A request whose path ends in `held` waits at ``held``, an envelope at ``envelopes``, which is open unless a test closes it.
/// The version of HTTP is known when a request has passed ``negotiation``, which is open unless a test closes it.
final class EnvelopeServer: Transport {
    typealias Respond = @Sendable (Request) async throws(NetworkError) -> Response

    let held = ScriptedGate()
    let envelopes = ScriptedGate()
    let negotiation = ScriptedGate()
    private let httpVersion: String?
    private let envelopeResponse: Respond
    private let itemResponse: Respond
    /// Guards the requests that came.
    private let received = Mutex<[Request]>([])

    init(
        holdsEnvelopes: Bool = false, httpVersion: String? = nil, negotiatesLate: Bool = false,
        envelope: @escaping Respond = EnvelopeServer.unmerge, item: @escaping Respond = { .path(of: $0) }
    ) {
        self.httpVersion = httpVersion
        envelopeResponse = envelope
        itemResponse = item
        if !holdsEnvelopes { envelopes.open() }
        if !negotiatesLate { negotiation.open() }
    }

    var requests: [Request] { received.withLock { $0 } }
    var paths: [String] { requests.map { $0.head.path ?? "" } }

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        received.withLock { $0.append(request) }
        let isEnvelope = !request.items.isEmpty
        let gate: ScriptedGate? = isEnvelope ? envelopes : request.head.path?.hasSuffix("held") == true ? held : nil
        do {
            try await negotiation.pass()
            if let httpVersion { flight.noteHTTPVersion(httpVersion, of: request) }
            try await gate?.pass()
        } catch {
            throw NetworkError(.cancelled, in: .transporting, "cancelled")
        }
        return try await isEnvelope ? envelopeResponse(request) : itemResponse(request)
    }

    /// Responds to every item of an envelope with its path, the last one first.
    static let unmerge: Respond = { request in
        let items = request.items.reversed().map { item in
            let body = #"{\"path\":\"\#(item["path"].string ?? "")\"}"#
            return #"{"id":"\#(item["id"].string ?? "")","status":200,"headers":[["X-Item","yes"]],"body":"\#(body)"}"#
        }
        return .json(#"{"responses":[\#(items.joined(separator: ","))]}"#)
    }
}

extension Response {
    static func path(of request: Request) -> Response { .json(#"{"path":"\#(request.head.path ?? "")"}"#) }
}

extension Request {
    /// What is in an envelope.
    var items: [JSONValue] {
        guard case .bytes(let bytes) = body, let document = try? JSONDocument(bytes) else { return [] }
        return Array(document.root["requests"].elements)
    }

    var itemPaths: [String] { items.map { $0["path"].string ?? "" } }
}

/// A layer over such a server, whose clock a test drives.
struct MergingLayer {
    let server: EnvelopeServer
    let records = RecordCollector()
    let clock = ManualClock()
    let network: NetworkLayer

    init(
        _ server: EnvelopeServer = EnvelopeServer(), redaction: Redaction = .default,
        _ change: (inout MergePolicy) -> Void = { _ in }
    ) {
        self.server = server
        network = NetworkLayer(
            transport: server, pipeline: .tested, clock: LayerClock(clock), sinks: [records], redaction: redaction,
            limits: LayerLimits(admission: .none, retrying: .none))
        network.configure(Merged.self) { settings in
            var policy = settings.merging ?? .standard
            change(&policy)
            settings.merging = policy
        }
    }

    /// A call whose request is in flight until the test opens ``EnvelopeServer/held``.
    func holdOne() async throws -> Task<RawData, any Error> {
        let count = server.held.arrivalCount
        let call = Task { [network] in try await network.call(Read("held")) }
        try await server.held.waitForArrivals(count: count + 1)
        return call
    }

    /// The record of the only envelope.
    func envelopeRecord(among count: Int) async throws -> FlightRecord? {
        try await records.records(count: count).first { $0.endpoint == "merged requests" }
    }
}
