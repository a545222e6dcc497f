import Foundation
import HTTPTypes
import Runway
import RunwayTesting
import Testing

/// The apps of `Samples` over their shared service, which `SampleListings.swift` links: launched, ended and launched again.
@Suite(.timeLimit(.minutes(5)))
struct SampleRelaunchTests {
    private let folder = URL(fileURLWithPath: NSTemporaryDirectory() + "runway-sample-\(UUID().uuidString)")
    private let transport = StubTransport { request in
        request.head.path == "/v1/tokens"
            ? .json(#"{"access_token":"t1","expires_in":3600,"refresh_token":"r1"}"#) : .json(#"{"address":"Lane 1"}"#)
    }

    /// What `ListingsApp` and `AppDelegate` make at a launch, with files in place of the keychain.
    private func launch() -> NetworkLayer {
        NetworkLayer(transport: transport, tokens: FileTokenStore(folder: folder))
    }

    private func shownAccount(_ network: NetworkLayer) -> String? { network.settings(of: Listings.self).account }

    private var authorizations: [String?] { transport.requests.map { $0.head.headerFields[.authorization] } }

    @Test func sampleIsSignedInAfterARelaunch() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = launch()
        #expect(shownAccount(first) == nil)
        #expect(await first.signInToListings(as: "ada", "hunter2") == "Signed in as ada")
        _ = try await first.call(RentalDetails(id: 1))

        let second = launch()
        #expect(shownAccount(second) == "ada")
        _ = try await second.call(RentalDetails(id: 2))
        #expect(transport.requests.map(\.head.path) == ["/v1/tokens", "/v1/rentals/1", "/v1/rentals/2"])
        #expect(authorizations == [nil, "Bearer t1", "Bearer t1"])
    }

    @Test func sampleStaysSignedOutAfterARelaunch() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = await launch().signInToListings(as: "ada", "hunter2")
        #expect(await launch().signOutOfListings() == "Signed out")
        let network = launch()
        #expect(shownAccount(network) == nil)
        let error = await #expect(throws: NetworkError.self) { try await network.call(RentalDetails(id: 1)) }
        #expect(error?.kind == .needsLogin && authorizations == [nil])
    }
}
