import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Testing

struct EnvironmentTests {
    @Test func eachEnvironmentNamedOrCustomHasItsURL() async throws {
        let layer = StubbedLayer()
        for (environment, url) in [
            (ServiceEnvironment.release, "https://library.test/v1/query"),
            (.development, "http://dev.library.test:8080/v1/query"),
            (.releaseCandidate, "https://rc.library.test/v1/query"),
            ("staging-7", "https://[2001:db8::7]:8443/query"),
        ] {
            layer.network.configure(Library.self) { $0.environment = environment }
            #expect(try await layer.request(of: QueryCall()).url == url)
            #expect(layer.network.settings(of: Library.self).environment == environment)
        }
    }

    @Test func environmentAddedAtRunTimeIsUsed() async throws {
        let layer = StubbedLayer()
        layer.network.configure(Library.self) {
            $0.baseURLs["mine"] = "http://127.0.0.1:9999"
            $0.environment = "mine"
        }
        #expect(try await layer.request(of: QueryCall()).url == "http://127.0.0.1:9999/query")
    }

    @Test func twoLayersHaveEachTheirOwnSettings() async throws {
        let one = StubbedLayer()
        let other = StubbedLayer()
        one.network.configure(Library.self) {
            $0.environment = .development
            $0.commonParameters = ["v": 1]
            $0.commonHeaders = ["X-Layer": "one"]
        }
        #expect(try await one.request(of: QueryCall()).url == "http://dev.library.test:8080/v1/query?v=1")
        let untouched = try await other.request(of: QueryCall())
        #expect(untouched.url == "https://library.test/v1/query")
        #expect(untouched.head.headerFields.isEmpty)
    }

    @MainActor @Test func changedTransportServesLaterCalls() async throws {
        let layer = StubbedLayer()
        let other = StubTransport { _ in .json(#"{"other":true}"#) }
        let landings = LandingRecorder()
        let manager = APIManager<QueryCall>(on: layer.network, delegate: landings)
        manager.load(QueryCall())
        layer.network.configure(Library.self) { $0.transport = other }
        try await landings.landings(count: 1)
        #expect(layer.transport.requests.count == 1 && other.requests.isEmpty)
        #expect(try await layer.network.call(QueryCall())["other"].bool == true)
    }

    @Test func noneOfManyChangesAtOnceIsLost() async {
        let network = StubbedLayer().network
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask { network.configure(Library.self) { $0.commonHeaders["X-\(number)"] = "" } }
            }
        }
        #expect(network.settings(of: Library.self).commonHeaders.count == 200)
    }

    @Test func changeAppliesToCallsThatStartAfterIt() async throws {
        let gate = ScriptedGate()
        let layer = StubbedLayer { _ throws(NetworkError) in
            do { try await gate.pass() } catch { throw NetworkError(.cancelled, in: .transporting, "cancelled") }
            return .json("{}")
        }
        async let first = layer.network.call(QueryCall())
        try await gate.waitForArrivals()
        layer.network.configure(Library.self) { $0.environment = .development }
        gate.open()
        _ = try await first
        _ = try await layer.network.call(QueryCall())
        #expect(layer.transport.requests.map(\.head.authority) == ["library.test", "dev.library.test:8080"])
    }

    @Test func serviceCanHaveATransportOfItsOwn() async throws {
        let own = StubTransport { _ in .json(#"{"from":"own"}"#) }
        let layer = StubbedLayer()
        layer.network.configure(Library.self) { $0.transport = own }
        #expect(try await layer.network.call(QueryCall())["from"].string == "own")
        #expect(layer.transport.requests.isEmpty)
        #expect(own.requests.count == 1)
    }

    @Test func transportOfAServiceSendsItsCallsOnly() async throws {
        let layer = StubbedLayer { _ in .json(#"{"from":"layer"}"#) }
        #expect(try await layer.network.call(ArchiveCall())["from"].string == "warehouse")
        #expect(layer.transport.requests.isEmpty)
        #expect(try await layer.network.call(QueryCall())["from"].string == "layer")
        #expect(Warehouse.transport.requests.map(\.url) == ["https://warehouse.test/box"])
        #expect(layer.transport.requests.map(\.url) == ["https://library.test/v1/query"])
    }

    @Test func unknownEnvironmentIsRefusedNamingKnownOnes() async throws {
        let layer = StubbedLayer()
        layer.network.configure(Library.self) { $0.environment = "moon" }
        let error = try await layer.failure(of: QueryCall())
        #expect(error.kind == .invalidConfiguration)
        #expect(error.step == .assembling)
        #expect(
            error.detail == "The service \"library\" has no environment \"moon\"; "
                + "it has: development, release, release candidate, staging-7.")
        #expect(layer.transport.requests.isEmpty)
        layer.network.configure(Library.self) { $0.environment = .release }
        #expect(try await layer.request(of: QueryCall()).head.authority == "library.test")
    }
}

/// A service with a transport of its own.
private enum Warehouse: APIService {
    static let name = "warehouse"
    static let environments: [ServiceEnvironment: String] = [.release: "https://warehouse.test"]
    /// Used by one test alone.
    static let transport = StubTransport { _ in .json(#"{"from":"warehouse"}"#) }

    static func makeTransport() -> (any Transport)? { transport }
}

private struct ArchiveCall: Endpoint {
    static let service = Warehouse.self
    var path: EndpointPath { "box" }
}
