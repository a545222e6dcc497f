import Foundation
import HTTPTypes
import RunwaySignatures
import RunwayTestServer
import RunwayTesting
import Testing

@testable import Runway
@testable import RunwaySigning

/// Requests that arrive twice, and refusals that somebody else makes: what is sent again, and what is not.
@Suite(.timeLimit(.minutes(10)))
struct ReplayTests {
    private let peers = Peers()

    private var verifyingPolicy: SigningPolicy {
        var policy = SigningPolicy(.signature(tag: "app"))
        policy.responses = ResponseSignatures(tag: "server", keys: peers.serverKeys)
        return policy
    }

    /// A refusal as replayed, with all that could be corrected: the time, and a nonce.
    private func replayed(at time: UnixTime) throws -> ScriptedResponse {
        var response = ScriptedResponse.problem("replayed", at: time)
        response.headerFields[.acceptSignature] = try peers.refusal(at: time, nonce: "another").headerFields[
            .acceptSignature]
        return response
    }

    @Test func replayedUnsafeRequestIsNotSentAgain() async throws {
        try await withScriptedOrigin { origin in
            let peers = peers
            // The time that the layer adopts is that of the response.
            origin.on("/a") { _ in try replayed(at: Peers.now) }
            origin.on("/b") { received in
                try await peers.verify(received)
                return .text("fine")
            }
            // Within the age that servers accept.
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey), clock: .wrong(by: -60))
            let error = try await network.failure(of: Change("a", .bytes([1])))
            #expect(error.kind == .refused && error.detail.contains("replayed") && error.sending == .sent)
            #expect(origin.requestCount == 1)
            let before = Peers.now
            _ = try await network.call(Read(path: "b"))
            let sent = try #require(origin.requests.last?.message.headerFields.signatures().first?.parameters.created)
            #expect(sent > before - .seconds(30), "The time is adopted")
        }
    }

    /// The caller wants the response as a stream, so that the reason has to be read first.
    @Test func theReasonOfAStreamedRefusalIsRead() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: try replayed(at: Peers.now))
            origin.on("/b", respond: [.problem("nonceUnknown", at: Peers.now), .text("fine")])
            var endless = try replayed(at: Peers.now)
            endless.framing = .chunked
            origin.on("/c", respond: endless)
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey), clock: .wrong(by: -60))
            for path in ["a", "c"] as [EndpointPath] {
                let error = await #expect(throws: NetworkError.self) {
                    try await network.stream(Change(path, .bytes([1])))
                }
                #expect(error?.kind == .refused && error?.step == .signing)
            }
            #expect(origin.requestCount == 2)
            let response = try await network.stream(Change("b", .bytes([1])))
            #expect(try await response.body.collect(upTo: 100) == Array("fine".utf8) && origin.requestCount == 4)
        }
    }

    @Test(arguments: [false, true]) func repeatableRequestThatWasReplayedIsSignedAnew(hasKey: Bool) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            origin.on("/a", respond: [.problem("replayed", at: Peers.now), .text("fine")])
            origin.on("/b", respond: .problem("replayed", at: Peers.now))
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            if hasKey {
                _ = try await network.call(Change("a", .bytes([1]), headers: ["Idempotency-Key": "\"k-1\""]))
            } else {
                _ = try await network.call(Read(path: "a"))
            }
            let nonces = try origin.requests.map { try $0.message.headerFields.signatures().first?.parameters.nonce }
            #expect(nonces.count == 2 && Set(nonces).count == 2)
            let error = try await network.failure(of: Read(path: "b"))
            #expect(error.kind == .refused && origin.requestCount == 4, "It is signed anew once")
        }
    }

    /// The transport sends the request a second time with the same signature, since the connection was an old one.
    @Test func requestOnALostConnectionIsSignedAnew() async throws {
        try await withScriptedOrigin { origin in
            let (peers, isRead) = (peers, AwaitedValue(0))
            origin.on("/a", respond: .text("fine"))
            origin.on("/b") { received in
                do {
                    try await peers.verify(received)
                } catch let refusal as SignatureRefusal {
                    return .problem(refusal.reason.name, at: Peers.now)
                }
                isRead.update { $0 += 1 }
                return isRead.value == 1 ? .closing : .text("fine")
            }
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            _ = try await network.call(Read(path: "a"))
            #expect(try await network.call(Read(path: "b")).text == "fine")
            #expect(origin.requests.map(\.path) == ["/a", "/b", "/b", "/b"] && isRead.value == 2)
            let values = origin.requests.map { $0["signature"] }
            #expect(values[1] == values[2] && values[2] != values[3])
        }
    }

    // MARK: - Refusals that nobody signed

    @Test func unsignedRefusalSendsNoUnsafeRequestAgain() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: try peers.refusal(at: Peers.now, nonce: "another"))
            let network = try NetworkLayer(to: origin, verifyingPolicy, keys: OneKey(peers.requestKey))
            let error = try await network.failure(of: Change("a", .bytes([1])))
            #expect(error.kind == .refused && error.status == .unauthorized && error.rawData == nil)
            #expect(origin.requestCount == 1)
            _ = try await network.failure(of: Read(path: "a"))
            #expect(origin.requestCount == 3, "A read is sent again")
        }
    }

    @Test func signedRefusalSendsAnUnsafeRequestAgain() async throws {
        try await withScriptedOrigin { origin in
            let peers = peers
            origin.otherwise { received in
                do {
                    try await peers.verify(received)
                    return try await peers.signed(.text("fine"), to: received)
                } catch {
                    return try await peers.signed(try peers.refusal(at: Peers.now), to: received)
                }
            }
            let network = try NetworkLayer(
                to: origin, verifyingPolicy, keys: OneKey(peers.requestKey), clock: .wrong(by: -3600))
            #expect(try await network.call(Change("a", .bytes([1]))).text == "fine")
            #expect(origin.requestCount == 2)
        }
    }

    /// The server was reached by a copy that it accepted, or can be reached by one later.
    @Test(arguments: [-10, 0, 100])
    func refusalThatExcludesNoCopySendsNothingAgain(seconds: Int) async throws {
        try await withScriptedOrigin { origin in
            let (peers, now) = (peers, Peers.now)
            let text =
                #"{"type":"urn:runway:signature:tooOld","time":\#(now.seconds),"#
                + #""acceptedUntil":\#((now + .seconds(seconds)).seconds)}"#
            var problem = ScriptedResponse.bytes(
                Array(text.utf8), contentType: "application/problem+json", status: .unauthorized)
            problem.headerFields[.acceptSignature] = try peers.refusal(at: now).headerFields[.acceptSignature]
            let refusal = problem
            origin.otherwise { received in
                do {
                    try await peers.verify(received)
                    return try await peers.signed(.text("fine"), to: received)
                } catch {
                    return try await peers.signed(refusal, to: received)
                }
            }
            // Time does not pass by the clock of the layer.
            let clock = LayerClock(ManualClock()) { Date(timeIntervalSinceNow: -3_600) }
            let network = try NetworkLayer(to: origin, verifyingPolicy, keys: OneKey(peers.requestKey), clock: clock)
            if seconds < 0 {
                #expect(try await network.call(Change("a", .bytes([1]))).text == "fine")
            } else {
                let error = try await network.failure(of: Change("a", .bytes([1])))
                #expect(error.kind == .refused && origin.requestCount == 1)
                #expect(try await network.call(Change("a", .bytes([1]))).text == "fine", "The time is adopted")
            }
        }
    }
}
