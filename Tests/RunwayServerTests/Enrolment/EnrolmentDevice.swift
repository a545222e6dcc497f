import HTTPTypes
import Runway
import RunwayServer
import RunwaySignatures
import RunwaySigning
import RunwayTransport
import Synchronization

/// The service of the app whose devices enrol keys.
enum EnrolmentShop: APIService {
    static let name = "shop"
    static let environments: [ServiceEnvironment: String] = [.release: "https://api.example.com/v1"]
    static let deadline = Duration.seconds(600)
}

/// A call that the server accepts only if it is signed; the response is the key's identifier, owner and device.
struct SignedEcho: Endpoint {
    static let service = EnrolmentShop.self
    static let coalesces = false
    var path: EndpointPath { "echo" }
    func encode(to encoder: any Encoder) {}
}

extension EnrolmentServer {
    /// A device with an account, whose requests reach the server as through a proxy that terminates TLS.
    func device(
        of account: String?, keys: DeviceKeys, losing lost: LostResponses = LostResponses(),
        attestor: (any DeviceAttestor)? = nil
    ) throws -> (network: NetworkLayer, enrolment: DeviceEnrolment<EnrolmentShop>) {
        let wire = try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300)))
        var pipeline = RequestPipeline()
        let policy = SigningPolicy(.signature(tag: "app"))
        pipeline.insert(SigningStage(for: EnrolmentShop.self, policy, keys: keys), before: .signing)
        let transport = LossyProxy(wire: wire, authority: "127.0.0.1:\(port)", lost: lost)
        let network = NetworkLayer(transport: transport, pipeline: pipeline)
        network.configure(EnrolmentShop.self) { settings in
            settings.account = account
            settings.commonHeaders = account.map { ["X-Account": $0] } ?? [:]
        }
        return (network, DeviceEnrolment(at: EnrolmentShop.self, in: network, keys: keys, attestor: attestor))
    }
}

/// How many responses to enrolments are lost.
final class LostResponses: Sendable {
    private let count: Mutex<Int>
    init(_ count: Int = 0) { self.count = Mutex(count) }

    fileprivate func takeOne() -> Bool {
        count.withLock { count in
            defer { count = max(0, count - 1) }
            return count > 0
        }
    }
}

private struct LossyProxy: Transport {
    let wire: NIOTransport
    let authority: String
    let lost: LostResponses

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        var request = request
        (request.head.scheme, request.head.authority) = ("http", authority)
        let response = try await wire.send(request, in: flight)
        if request.head.path == "/v1/device-keys", request.head.method == .post, lost.takeOne() {
            throw NetworkError(.timedOut, in: .transporting, "The response was lost.", sending: .sent)
        }
        return response
    }
}

/// A token store in memory.
actor StoredSecrets: TokenStore {
    private var tokens: [TokenKey: AccessToken] = [:]
    var all: [String] { tokens.values.map(\.value) }

    func load(_ key: TokenKey) -> AccessToken? { tokens[key] }
    func save(_ token: AccessToken, at key: TokenKey) { tokens[key] = token }
    func remove(_ key: TokenKey) { tokens[key] = nil }
}
