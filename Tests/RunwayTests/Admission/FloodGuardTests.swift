import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

struct FloodGuardTests {
    private func layer(_ limits: AdmissionLimits = AdmissionLimits(maximumIdenticalRequests: 3)) -> StubbedLayer {
        StubbedLayer(admission: limits)
    }

    private func count(_ endpoints: some Sequence<some Endpoint>, _ layer: StubbedLayer) async -> Int {
        var refused = 0
        for endpoint in endpoints {
            do { _ = try await layer.network.call(endpoint) } catch { refused += error.kind == .overloaded ? 1 : 0 }
        }
        return refused
    }

    @Test func endlessLoopIsStoppedWithAClearSentence() async throws {
        let layer = StubbedLayer(admission: AdmissionLimits())
        #expect(await count(Array(repeating: BookSearch(), count: 100), layer) == 0)
        layer.clock.advance(by: .seconds(4))
        let error = try await layer.failure(of: BookSearch())
        #expect(error.kind == .overloaded && error.step == .admission && error.sending == .notSent)
        #expect(
            error.detail
                == "The same request was made more than 100 times within 10 s, as by a loop that has no end; "
                + "it is refused for 6 s.")
        #expect(layer.transport.requests.count == 100)
    }

    @Test func nextWindowLetsItOutAgain() async throws {
        let layer = layer()
        #expect(await count(Array(repeating: BookSearch(), count: 5), layer) == 2)
        layer.clock.advance(by: .nanoseconds(9_999_999_999))
        #expect(await count([BookSearch()], layer) == 1)
        layer.clock.advance(by: .nanoseconds(1))
        #expect(await count(Array(repeating: BookSearch(), count: 4), layer) == 1)
    }

    @Test func requestsThatDifferAreNoLoop() async throws {
        let layer = layer()
        #expect(await count((0..<20).map { BookSearch(page: $0) }, layer) == 0)
        #expect(await count((0..<20).map { JSONCall(given: ["page": .integer($0)]) }, layer) == 0)
        #expect(await count((0..<20).map { QueryCall(fields: ["Range": "bytes=\($0)-"]) }, layer) == 0)
    }

    @Test func sameBodyIsTheSameRequest() async throws {
        let layer = layer()
        #expect(await count(Array(repeating: JSONCall(given: ["a": 1]), count: 5), layer) == 2)
        let bytes = RequestBody.bytes(Array(repeating: 7, count: 64 << 10))
        #expect(await count(Array(repeating: RawCall(bytes: bytes), count: 5), layer) == 2)
    }

    @Test func bodiesThatAreNotComparedAreNotCounted() async throws {
        let layer = layer()
        let large = RequestBody.bytes(Array(repeating: 7, count: 64 << 10 + 1))
        #expect(await count(Array(repeating: RawCall(bytes: large), count: 5), layer) == 0)
        let stream = RequestBody.stream(BodyStream([1]), byteCount: 1, isReplayable: true)
        #expect(await count(Array(repeating: RawCall(bytes: stream), count: 5), layer) == 0)
    }

    @Test func accountsAreDistinguished() async throws {
        let layer = layer()
        for account in ["a", "b"] {
            layer.network.configure(Library.self) { $0.account = account }
            #expect(await count(Array(repeating: BookSearch(), count: 4), layer) == 1)
        }
    }

    @Test func guardCanBeTurnedOff() async throws {
        #expect(
            await count(
                Array(repeating: BookSearch(), count: 300), layer(AdmissionLimits(maximumIdenticalRequests: nil))) == 0)
    }

    @Test func memoryOfDifferentRequestsIsBounded() {
        var flood = FloodGuard(maximumCount: 1, window: .seconds(10))
        for identity in 0..<FloodGuard.maximumIdentities {
            let isNew = flood.isLetOut(identity)
            #expect(isNew)
        }
        let isRepeated = flood.isLetOut(0)
        #expect(!isRepeated)
        // One more than is stored: counting starts again.
        let isOneMore = flood.isLetOut(-1)
        #expect(isOneMore)
        let isForgotten = flood.isLetOut(0)
        #expect(isForgotten)
    }
}

extension FloodGuard {
    fileprivate mutating func isLetOut(_ identity: Int) -> Bool { refusal(of: identity, at: .zero) == nil }
}
