import HTTPTypes
import Runway
import RunwayDemo
import RunwayJSON
import RunwayTesting
import RunwayTransport
import Testing

/// HTTP/2, where the server has it, against the demo's server.
@Suite(
    .timeLimit(.minutes(10)), .overEveryTransport,
    .except(.urlSession, "it trusts the system's authorities alone"))
struct HTTP2Tests {
    private func withBackend(
        clock: any Clock<Duration> = ContinuousClock(), usesHTTP2: Bool = true,
        _ body: (NetworkLayer, ServingBackend, RecordCollector) async throws -> Void
    ) async throws {
        let backend = try ListingsBackend(seed: 3, listingsPerKind: 200, clock: clock)
        try await withListingsBackend(backend) { serving in
            let pem = try #require(serving.certificate).authorityPEM
            let records = RecordCollector()
            let network = try NetworkLayer(
                to: serving.baseURL,
                TransportConfiguration(
                    trust: .certificates(pem: [pem]), usesHTTP2: usesHTTP2, connectTimeout: .seconds(300)),
                sinks: [records])
            try await body(network, serving, records)
        }
    }

    @Test func http2IsUsedIfOfferedAndRecorded() async throws {
        try await withBackend { network, _, records in
            let raw = try await network.call(Fetch<GET>("esf/list"))
            #expect(raw.response.status == .ok)
            #expect(raw.json.kind == .object)
            let record = try #require(try await records.records(count: 1).first)
            #expect(record.attempts.map(\.httpVersion) == ["HTTP/2"])
            #expect(record.attempts.first?.responseByteCount == raw.bytes.count)
        }
    }

    @Test func configurationCanRestrictToHTTP1() async throws {
        try await withBackend(usesHTTP2: false) { network, _, records in
            _ = try await network.call(Fetch<GET>("esf/list"))
            let record = try #require(try await records.records(count: 1).first)
            #expect(record.attempts.map(\.httpVersion) == ["HTTP/1.1"])
        }
    }

    @Test func manyCallsAtOnceShareOneConnection() async throws {
        try await withBackend { network, serving, _ in
            let first = try await network.call(Fetch<GET>("zf/list")).bytes
            try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for _ in 0..<50 { group.addTask { try await network.call(Fetch<GET>("zf/list")).bytes } }
                for try await bytes in group { #expect(bytes == first) }
            }
            #expect(serving.statistics.connections == 1)
        }
    }

    @Test func aCancelledCallLeavesTheConnectionOpen() async throws {
        let clock = ManualClock()
        try await withBackend(clock: clock) { network, serving, _ in
            _ = try await network.call(Fetch<GET>("zf/list"))
            var slow = Fetch<GET>("zf/list")
            slow.parameters = ["delay_ms": 5000]
            let call = Task { [slow] in try await network.call(slow) }
            try await clock.waitForSleepers()
            call.cancel()
            let error = try await #require(throws: NetworkError.self) { try await call.value }
            #expect(error.kind == .cancelled)
            // The server cancels the request when it is reset.
            try await waitUntil { clock.sleeperCount == 0 }
            _ = try await network.call(Fetch<GET>("zf/list"))
            #expect(serving.statistics.connections == 1)
        }
    }

    @Test func aReleasedStreamPreservesTheConnection() async throws {
        try await withBackend { network, serving, records in
            let whole = try await network.call(Fetch<GET>("xinfang/list")).bytes
            let response = try await network.stream(Fetch<GET>("xinfang/list"))
            #expect(try await response.body.collect(upTo: 1 << 20) == whole)
            for _ in 0..<5 { _ = try await network.stream(Fetch<GET>("xinfang/list")) }
            #expect(try await network.call(Fetch<GET>("xinfang/list")).bytes == whole)
            #expect(serving.statistics.connections == 1)
            _ = try await records.records(count: 8)
        }
    }

    @Test func aTruncatedResponseNeverSucceedsAsJSON() async throws {
        try await withBackend { network, _, _ in
            let raw = try await network.call(Fetch<GET>("failing/truncated"))
            #expect(throws: (any Error).self) { try raw["data"].require() as String }
        }
    }

    @Test func disappearedServerFailsCallsAsNoNetwork() async throws {
        let clock = ManualClock()
        let calls = try await withListingsBackend(ListingsBackend(seed: 3, listingsPerKind: 50, clock: clock)) {
            serving in
            let pem = try #require(serving.certificate).authorityPEM
            let network = try NetworkLayer(
                to: serving.baseURL,
                TransportConfiguration(trust: .certificates(pem: [pem]), connectTimeout: .seconds(300)))
            var slow = Fetch<GET>("zf/list")
            slow.parameters = ["delay_ms": 5000]
            let calls = (0..<3).map { [slow] _ in Task { try await network.call(slow) } }
            try await clock.waitForSleepers(count: 3)
            return calls
        }
        for call in calls {
            let error = try await #require(throws: NetworkError.self) { try await call.value }
            #expect(error.kind == .noNetwork)
        }
    }

    @Test func wrongTrustIsRefusedBeforeAnyRequest() async throws {
        try await withListingsBackend(ListingsBackend(seed: 3, listingsPerKind: 50)) { serving in
            let other = try DemoCertificate()
            let network = try NetworkLayer(
                to: serving.baseURL,
                TransportConfiguration(trust: .certificates(pem: [other.authorityPEM]), connectTimeout: .seconds(300)))
            #expect(try await network.failure(of: Fetch<GET>("zf/list")).kind == .notTrusted)
            #expect(serving.statistics.total.requests == 0)
        }
    }
}
