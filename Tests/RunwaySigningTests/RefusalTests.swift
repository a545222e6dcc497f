import Foundation
import HTTPTypes
import RunwaySignatures
import RunwayTestServer
import RunwayTesting
import Testing

@testable import Runway
@testable import RunwaySigning

/// Servers that refuse a signature, and what the app does about it.
@Suite(.timeLimit(.minutes(10)))
struct RefusalTests {
    private let peers = Peers()

    /// Verifies each request, and refuses with the server's time.
    private func verify(at origin: ScriptedOrigin, asking: Bool = false) {
        let peers = peers
        origin.otherwise { received in
            do {
                try await peers.verify(received)
                return .text("fine")
            } catch {
                return try peers.refusal(
                    at: Peers.now, nonce: asking ? peers.serverNonces.issue(at: Peers.now) : nil)
            }
        }
    }

    @Test(arguments: [3600.0, -3600.0]) func aWrongClockIsCorrectedOnce(_ difference: TimeInterval) async throws {
        try await withScriptedOrigin { origin in
            verify(at: origin)
            let records = RecordCollector()
            let network = try NetworkLayer(
                to: origin, keys: OneKey(peers.requestKey), clock: .wrong(by: difference), sinks: [records])
            _ = try await network.call(Read(path: "a"))
            #expect(origin.requestCount == 2)
            _ = try await network.call(Read(path: "b"))
            #expect(origin.requestCount == 3, "The correction stays")
            let record = try #require(try await records.records(count: 1).first)
            let decisions = record.decisions(of: SigningDecision.self)
            #expect(decisions.count == 3)
            if case .correctedTime(let found) = decisions[1] {
                #expect(abs(Double(found.components.seconds) + difference) < 60)
            } else {
                Issue.record("\(record)")
            }
        }
    }

    /// Somebody sets the clock of the device while the app runs.
    @Test func correctionOutlivesAChangeOfTheDevicesClock() async throws {
        try await withScriptedOrigin { origin in
            verify(at: origin)
            let difference = AwaitedValue(-3600.0)
            let clock = LayerClock(ContinuousClock()) { Date(timeIntervalSinceNow: difference.value) }
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey), clock: clock)
            _ = try await network.call(Read(path: "a"))
            #expect(origin.requestCount == 2)
            difference.update { $0 = 3600 }
            _ = try await network.call(Read(path: "b"))
            #expect(origin.requestCount == 3)
        }
    }

    @Test(arguments: [3600.0, -3600.0]) func callsAtOnceAreAllCorrected(_ difference: TimeInterval) async throws {
        try await withScriptedOrigin { origin in
            let (peers, gate, count) = (peers, ScriptedGate(), AwaitedValue(0))
            origin.otherwise { received in
                // All are sent before one is refused.
                count.update { $0 += 1 }
                if count.value <= 4 { try await gate.pass() }
                do {
                    try await peers.verify(received)
                    return .text("fine")
                } catch {
                    return try peers.refusal(at: Peers.now)
                }
            }
            let network = try NetworkLayer(
                to: origin, keys: OneKey(peers.requestKey), clock: .wrong(by: difference))
            let calls = (1...4).map { number in Task { try await network.call(Read(path: "\(number)")) } }
            try await gate.waitForArrivals(count: 4)
            gate.open()
            for call in calls { _ = try await call.value }
            #expect(origin.requestCount == 8)
        }
    }

    @Test func unrepeatableBodyIsSentOnce() async throws {
        try await withScriptedOrigin { origin in
            verify(at: origin)
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey), clock: .wrong(by: -3600))
            let body = RequestBody.stream(BodyStream([1]), byteCount: 1, isReplayable: false)
            let digest = ["Content-Digest": BodyDigest(of: [1]).fieldValue]
            let error = try await network.failure(of: Change("a", body, headers: digest))
            #expect(error.status == .unauthorized && origin.requestCount == 1)
            _ = try await network.call(Change("a", .bytes([1])))
            #expect(origin.requestCount == 2, "The time is known")
        }
    }

    @Test func aClockIsNotCorrectedTwice() async throws {
        try await withScriptedOrigin { origin in
            let (peers, seconds) = (peers, AwaitedValue(Peers.now.seconds))
            origin.otherwise { _ in
                seconds.update { $0 += 3600 }
                return try peers.refusal(at: UnixTime(seconds: seconds.value))
            }
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            let error = try await network.failure(of: Read(path: "a"))
            #expect(error.status == .unauthorized && origin.requestCount == 2)
        }
    }

    @Test func aDateFarOffIsNotAdopted() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: try peers.refusal(at: Peers.now + .seconds(90_000)))
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            _ = try await network.failure(of: Read(path: "a"))
            #expect(origin.requestCount == 1)
        }
    }

    @Test(arguments: [0, 3600]) func anotherRefusalIsReturned(_ seconds: Int) async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .refusal(at: Peers.now + .seconds(seconds)))
            let peers = peers
            origin.on("/b") { received in
                try await peers.verify(received)
                return .text("fine")
            }
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            let error = try await network.failure(of: Read(path: "a"))
            #expect(error.kind == .needsAccessToken && origin.requestCount == 1)
            _ = try await network.call(Read(path: "b"))
            #expect(origin.requestCount == 2, "The time is not adopted")
        }
    }

    @Test func theDateOfACacheIsNotAdopted() async throws {
        try await withScriptedOrigin { origin in
            var refusal = try peers.refusal(at: Peers.now + .seconds(3600))
            refusal.headerFields[.age] = "7"
            origin.otherwise(respond: refusal)
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            let error = try await network.failure(of: Read(path: "a"))
            #expect(error.kind == .refused && error.step == .signing && origin.requestCount == 1)
        }
    }

    @Test func aServersNonceIsUsed() async throws {
        try await withScriptedOrigin { origin in
            verify(at: origin, asking: true)
            let week = 7 * 86_400.0
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey), clock: .wrong(by: week))
            _ = try await network.call(Read(path: "a"))
            #expect(origin.requestCount == 2)
        }
    }

    @Test func aServersNonceIsUsedOnce() async throws {
        try await withScriptedOrigin { origin in
            let peers = peers
            origin.otherwise { _ in
                try peers.refusal(at: Peers.now, nonce: peers.serverNonces.issue(at: Peers.now))
            }
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            let error = try await network.failure(of: Read(path: "a"))
            #expect(error.kind == .refused && error.step == .signing && error.status == .unauthorized)
            #expect(error.rawData?.text == "refused" && error.sending == .sent)
            #expect(origin.requestCount == 2)
        }
    }

    @Test func anUnknownServerNonceIsReplaced() async throws {
        try await withScriptedOrigin { origin in
            let first = try peers.refusal(at: Peers.now, nonce: "first")
            let unknown = ScriptedResponse.problem("nonceUnknown", at: Peers.now)
            var again = unknown
            again.headerFields[.acceptSignature] = try peers.refusal(at: Peers.now, nonce: "second")
                .headerFields[.acceptSignature]
            origin.on("/a", respond: [first, unknown, .text("fine")])
            origin.on("/b", respond: [first, again, .text("fine")])
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            for path in ["a", "b"] as [EndpointPath] { _ = try await network.call(Read(path: path)) }
            let nonces = try origin.requests.map { received in
                try received.message.headerFields.signatures().first?.parameters.nonce
            }
            #expect(nonces.count == 6 && Set(nonces).count == 5)
            #expect(nonces[1] == "first" && nonces[2] != "first" && nonces[4] == "first" && nonces[5] == "second")
        }
    }

    @Test func componentsThatTheServerWantsAreCovered() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise { received in
                let signature = try #require(try received.message.headerFields.signatures().first)
                if signature.parameters.components.contains(.scheme) { return .text("fine") }
                let wanted = try SignatureRequest(label: "own", components: CoveredComponents([.scheme]), tag: "app")
                var refusal = ScriptedResponse.refusal(at: Peers.now)
                try refusal.headerFields.append(wanted)
                return refusal
            }
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            _ = try await network.call(Read(path: "a"))
            let last = try #require(origin.requests.last)
            #expect(try await peers.verify(last).label == "own")
        }
    }

    @Test func componentsThatTheRequestLacksAreLeftOut() async throws {
        try await withScriptedOrigin { origin in
            let lacking: [ComponentIdentifier] = [
                .field(.range), .queryParameter("p"), .status, .field(.accept).inTrailer,
            ]
            let wanted = try SignatureRequest(
                label: "own", components: CoveredComponents([.scheme] + lacking), tag: "app")
            origin.otherwise { _ in
                var refusal = ScriptedResponse.refusal(at: Peers.now)
                try refusal.headerFields.append(wanted)
                return refusal
            }
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            let error = try await network.failure(of: Read(path: "a"))
            #expect(error.kind == .refused && error.step == .signing && origin.requestCount == 2)
            let components = try await peers.verify(try #require(origin.requests.last)).parameters.components
            #expect(components.contains(.scheme) && lacking.allSatisfy { !components.contains($0) })
        }
    }

    @Test func theTimeOfAProblemIsAdopted() async throws {
        try await withScriptedOrigin { origin in
            let peers = peers
            origin.otherwise { received in
                do {
                    try await peers.verify(received)
                    return .text("fine")
                } catch let refusal as SignatureRefusal {
                    return .problem(refusal.reason.name, at: Peers.now)
                }
            }
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey), clock: .wrong(by: -3600))
            _ = try await network.call(Read(path: "a"))
            #expect(origin.requestCount == 2)
        }
    }

    @Test func anUnknownNonceIsReplacedOnce() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: [.problem("nonceUnknown", at: Peers.now), .text("fine")])
            origin.on("/b", respond: .problem("nonceUnknown", at: Peers.now))
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            _ = try await network.call(Read(path: "a"))
            #expect(origin.requestCount == 2)
            let error = try await network.failure(of: Read(path: "b"))
            #expect(error.kind == .refused && error.detail.contains("nonceUnknown") && origin.requestCount == 4)
        }
    }

    @Test func anOverloadOfTheVerifierIsRetried() async throws {
        try await withScriptedOrigin { origin in
            let peers = peers
            var problem = ScriptedResponse.problem("tooManyFailures", at: Peers.now, status: .tooManyRequests)
            problem.headerFields[.retryAfter] = "0"
            problem.headerFields[.setCookie] = "a=1"
            origin.on("/a", respond: [problem, .problem("store", at: Peers.now, status: .serviceUnavailable)])
            var policy = SigningPolicy(.signature(tag: "app"))
            policy.responses = ResponseSignatures(tag: "server", keys: peers.serverKeys)
            let network = try NetworkLayer(to: origin, policy, keys: OneKey(peers.requestKey))
            let error = try await network.failure(of: Read(path: "a"))
            #expect(error.kind == .overloaded && error.step == .judging && origin.requestCount > 1)
            #expect(error.rawData?.bytes.isEmpty != false, "Nobody vouches for the body")
            #expect(origin.requests.allSatisfy { $0["cookie"] == nil })
        }
    }

    @Test(arguments: [403, 404, 409, 422, 500, 502])
    func anotherUnsignedFailureIsNotTrusted(_ status: Int) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .problem("store", at: Peers.now, status: .init(code: status)))
            var policy = SigningPolicy(.signature(tag: "app"))
            policy.responses = ResponseSignatures(tag: "server", keys: peers.serverKeys)
            let network = try NetworkLayer(to: origin, policy, keys: OneKey(peers.requestKey))
            #expect(try await network.failure(of: Read(path: "a")).kind == .notTrusted)
        }
    }

    @Test func aProblemIsNoSuccess() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .problem("store", at: Peers.now, status: .ok))
            var policy = SigningPolicy(.signature(tag: "app"))
            policy.responses = ResponseSignatures(tag: "server", keys: peers.serverKeys)
            let network = try NetworkLayer(to: origin, policy, keys: OneKey(peers.requestKey))
            #expect(try await network.failure(of: Read(path: "a")).kind == .notTrusted)
        }
    }

    @Test func anInvalidSignatureIsNotSentAgain() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .problem("invalid", at: Peers.now))
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            let error = try await network.failure(of: Read(path: "a"))
            #expect(error.kind == .refused && error.step == .signing && origin.requestCount == 1)
            #expect((error.underlying as? SignatureRefusal)?.reason == .invalid)
        }
    }
}
