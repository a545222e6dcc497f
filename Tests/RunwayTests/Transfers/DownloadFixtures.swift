import Crypto
import Foundation
import HTTPTypes
import RunwayTesting

@testable import Runway

enum Archive: APIService {
    static let name = "archive"
    static let environments: [ServiceEnvironment: String] = [.release: "https://archive.example"]
}

struct Film: Endpoint {
    static let service = Archive.self
    static let retry = RetryPolicy(maximumAttempts: 3, baseWait: .zero)
    @Unencoded var id = 1
    var path: EndpointPath { "films/\(id)" }
}

extension [UInt8] {
    /// The value of a digest field of these bytes (RFC 9530).
    var digestField: String { "sha-256=:\(Data(SHA256.hash(data: self)).base64EncodedString()):" }
}

extension FileServer {
    /// A layer whose calls come here.
    func layer(
        sinks: [any EventSink] = [], clock: LayerClock = .system, retrying: AttemptLimits = .retrying,
        seed: UInt64 = 1
    ) -> NetworkLayer {
        NetworkLayer(
            transport: StubTransport { [self] request in respond(request) }, pipeline: .tested, clock: clock,
            sinks: sinks,
            limits: LayerLimits(admission: .none, retrying: retrying), randomness: SeededGenerator(seed: seed))
    }
}
