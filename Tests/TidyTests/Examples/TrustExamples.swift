import Foundation
import Runway
import RunwayTransport

// The examples of trust, cookies and compression in the doc comments, line by line. They are compiled and not run.

func makePins() throws -> PublicKeyPins {
    let pins = try PublicKeyPins(
        host: "api.example.com",
        pins: [
            "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "sha256/BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA=",
        ],
        expiry: Date(timeIntervalSince1970: 1_893_456_000))
    return pins
}

func makePinnedLayer(_ pins: PublicKeyPins) throws -> NetworkLayer {
    var configuration = TransportConfiguration()
    configuration.trustPolicy.pins = [pins]
    configuration.trustPolicy.onPinReport = { report in print(report.host, report.outcome) }
    let network = NetworkLayer(transport: try NIOTransport(configuration: configuration))
    return network
}

func makePinnedSessionLayer(_ pins: PublicKeyPins) throws -> NetworkLayer {
    let transport = try URLSessionTransport(pins: [pins]) { report in print(report.host, report.outcome) }
    let network = NetworkLayer(transport: transport)
    return network
}

enum ActionLog: APIService {
    static let compression: CompressionPolicy? = CompressionPolicy()
    // …
}

enum Forum: APIService {
    static let cookies: CookiePolicy = .jar()
    // …
}

extension ActionLog {
    static let name = "log"
    static let environments = Listings.environments
}

extension Forum {
    static let name = "forum"
    static let environments = Listings.environments
}
