import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import RunwayJSON
import RunwayServer
import Synchronization
import Testing

@testable import RunwaySignatures

/// What the server refuses of a client that does not do as it should.
@Suite(.timeLimit(.minutes(5)))
struct EnrolmentRefusalTests {
    /// A client that says what a test has it say.
    private struct Caller {
        let server: EnrolmentServer
        var account = "anna"
        var device = "phone-1"
        var key = P256.Signing.PrivateKey()

        func send(_ method: String, _ path: String, _ body: [String: String]? = nil) async throws -> (Int, JSONValue) {
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(server.port)/v1/device-keys\(path)")
            request.method = .init(rawValue: method)
            request.headers.add(name: "X-Account", value: account)
            request.headers.add(name: "Host", value: "api.example.com")
            if let body { request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(body))) }
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(120))
            let bytes = Array(try await response.body.collect(upTo: 1 << 20).readableBytesView)
            return (Int(response.status.code), try JSONDocument(bytes.isEmpty ? Array("{}".utf8) : bytes).root)
        }

        func challenge() async throws -> String {
            try #require(try await send("POST", "/challenge").1["challenge"].string)
        }

        /// The body of an enrolment, which a test changes.
        func body(
            _ challenge: String, signedBy signer: P256.Signing.PrivateKey? = nil,
            replacing old: (id: String, key: P256.Signing.PrivateKey)? = nil, account: String? = nil,
            authority: String = "api.example.com"
        ) throws -> [String: String] {
            let statement = try EnrolmentStatement(
                authority: authority, account: account ?? self.account, device: device, challenge: challenge,
                replacing: old?.id, publicKey: Array(key.publicKey.x963Representation))
            var body = [
                "key": Base64.encodedForURL(statement.publicKey), "device": device, "challenge": challenge,
                "proof": Base64.encodedForURL(try (signer ?? key).signature(for: statement.bytes).rawRepresentation),
            ]
            if let old {
                body["replaces"] = old.id
                body["replacedProof"] = Base64.encodedForURL(
                    try old.key.signature(for: statement.bytes).rawRepresentation)
            }
            return body
        }

        /// The reason of a refusal, or the identifier of the enrolled key.
        func enrol(_ body: [String: String]) async throws -> String {
            let (status, json) = try await send("POST", "", body)
            return status == 201 ? try #require(json["id"].string) : "\(status) \(json["reason"].string ?? "")"
        }
    }

    @Test func challengeAllowsOneAttempt() async throws {
        try await withEnrolmentServer { server in
            var caller = Caller(server: server)
            let challenge = try await caller.challenge()
            let id = try await caller.enrol(try caller.body(challenge))
            #expect(server.keys.all.map(\.id) == [id])
            #expect(try await caller.enrol(try caller.body(challenge)) == "403 challenge")
            // A failed attempt uses it up as well.
            caller.key = P256.Signing.PrivateKey()
            let second = try await caller.challenge()
            #expect(try await caller.enrol(try caller.body(second, signedBy: .init())) == "403 proof")
            #expect(try await caller.enrol(try caller.body(second)) == "403 challenge")
            #expect(server.keys.all.count == 1)
        }
    }

    @Test func challengeEnds() async throws {
        try await withEnrolmentServer { server in
            let caller = Caller(server: server)
            let challenge = try await caller.challenge()
            server.time.set(server.time.now + .seconds(301))
            #expect(try await caller.enrol(try caller.body(challenge)) == "403 challenge")
            #expect(try await caller.enrol(try caller.body("s1.invented")) == "403 challenge")
        }
    }

    @Test func challengeIsOneAccounts() async throws {
        try await withEnrolmentServer { server in
            let (anna, ben) = (Caller(server: server), Caller(server: server, account: "ben"))
            let challenge = try await anna.challenge()
            #expect(try await ben.enrol(try ben.body(challenge)) == "403 challenge")
            #expect(try await anna.enrol(anna.body(challenge)).count == 43)
        }
    }

    @Test func nonceOfASignatureIsNoChallenge() async throws {
        let nonces = ServerNonces()
        try await withEnrolmentServer {
            $0.challenges = nonces
        } _: { server in
            let caller = Caller(server: server)
            let body = try caller.body(nonces.issue(at: server.time.now))
            let outcome = try await caller.enrol(body)
            #expect(outcome == "403 challenge")
        }
    }

    @Test func failuresOfAnAccountAreLimited() async throws {
        try await withEnrolmentServer {
            $0.failureLimits = FailureLimits(burst: 3, perSecond: 1)
        } _: { server in
            let caller = Caller(server: server)
            let challenge = try await caller.challenge()
            for _ in 0..<3 { #expect(try await caller.enrol(try caller.body("s1.invented")) == "403 challenge") }
            #expect(try await caller.enrol(try caller.body(challenge)) == "429 tooManyFailures")
            // The limit is this account's alone, and the challenge is not used up.
            let ben = Caller(server: server, account: "ben")
            #expect(try await ben.enrol(try ben.body(try await ben.challenge())).count == 43)
            server.time.set(server.time.now + .seconds(1))
            #expect(try await caller.enrol(try caller.body(challenge)).count == 43)
        }
    }

    @Test func refusalWithoutAccountHasAChallengeOfHTTP() async throws {
        try await withEnrolmentServer { server in
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(server.port)/v1/device-keys")
            request.headers.add(name: "Host", value: "api.example.com")
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(120))
            #expect(response.status == .unauthorized)
            #expect(response.headers["WWW-Authenticate"] == ["Bearer"])
        }
    }

    @Test func challengesOfAnAccountAreBounded() async throws {
        try await withEnrolmentServer {
            $0.failureLimits = nil
        } _: { server in
            let caller = Caller(server: server)
            var outcomes: Set<String> = []
            for _ in 0..<400 {
                let challenge = try await caller.challenge()
                outcomes.insert(try await caller.enrol(caller.body(challenge, signedBy: .init())))
            }
            #expect(outcomes == ["403 proof", "403 challenge"])
        }
    }

    @Test(arguments: ["account", "authority", "device", "key"])
    func statementBindsWhatIsSent(part: String) async throws {
        try await withEnrolmentServer { server in
            let caller = Caller(server: server)
            let challenge = try await caller.challenge()
            var body =
                switch part {
                case "account": try caller.body(challenge, account: "ben")
                case "authority": try caller.body(challenge, authority: "other.example.com")
                default: try caller.body(challenge)
                }
            if part == "device" { body["device"] = "phone-2" }
            if part == "key" {
                body["key"] = Base64.encodedForURL(P256.Signing.PrivateKey().publicKey.x963Representation)
            }
            #expect(try await caller.enrol(body) == "403 proof")
            #expect(server.keys.all.isEmpty)
        }
    }

    @Test func replacementNeedsBothKeys() async throws {
        try await withEnrolmentServer { server in
            let caller = Caller(server: server)
            let old = try await caller.enrol(try caller.body(try await caller.challenge()))
            let next = Caller(server: server)
            let forged = try next.body(try await next.challenge(), replacing: (old, P256.Signing.PrivateKey()))
            #expect(try await next.enrol(forged) == "403 proof")
            var bare = try next.body(try await next.challenge(), replacing: (old, caller.key))
            bare["replacedProof"] = nil
            #expect(try await next.enrol(bare) == "400 malformed")
            let unknown = try next.body(try await next.challenge(), replacing: ("none", caller.key))
            #expect(try await next.enrol(unknown) == "404 unknownKey")
            var other = Caller(server: server)
            other.device = "phone-2"
            let stolen = try other.body(try await other.challenge(), replacing: (old, caller.key))
            #expect(try await other.enrol(stolen) == "404 unknownKey")
            let good = try next.body(try await next.challenge(), replacing: (old, caller.key))
            #expect(try await next.enrol(good).count == 43)
        }
    }

    @Test func keyOfAnotherAccountIsRefused() async throws {
        try await withEnrolmentServer { server in
            let anna = Caller(server: server)
            let id = try await anna.enrol(try anna.body(try await anna.challenge()))
            let ben = Caller(server: server, account: "ben", key: anna.key)
            #expect(try await ben.enrol(try ben.body(try await ben.challenge())) == "409 keyInUse")
            #expect(try await ben.send("DELETE", "/\(id)").0 == 404)
            #expect(try await anna.send("DELETE", "/\(id)").0 == 204)
            // A revoked key stays revoked.
            #expect(try await anna.enrol(try anna.body(try await anna.challenge())) == "409 keyInUse")
        }
    }

    /// A device of App Attest is remembered when its evidence is verified, which can be done once.
    @Test func refusedEnrolmentUsesNoEvidenceUp() async throws {
        final class Counting: DeviceAttestation {
            let count = Mutex(0)
            func verify(_ evidence: DeviceEvidence, of statement: EnrolmentStatement, at now: UnixTime) async throws {
                count.withLock { $0 += 1 }
            }
        }
        let attestation = Counting()
        let evidence = ["evidenceFormat": "counting", "evidence": Base64.encodedForURL([1, 2, 3])]
        try await withEnrolmentServer {
            $0.attestation = attestation
            $0.maximumKeysPerAccount = 1
        } _: { server in
            let first = Caller(server: server)
            let id = try await first.enrol(try first.body(try await first.challenge()).merging(evidence) { $1 })
            #expect(id.count == 43)
            let second = Caller(server: server, device: "phone-2")
            let full = try await second.enrol(try second.body(try await second.challenge()).merging(evidence) { $1 })
            #expect(full == "403 tooManyKeys" && attestation.count.withLock { $0 } == 1)
            #expect(try await first.send("DELETE", "/\(id)").0 == 204)
            let revoked = try await first.enrol(try first.body(try await first.challenge()).merging(evidence) { $1 })
            #expect(revoked == "409 keyInUse" && attestation.count.withLock { $0 } == 1)
            let room = try await second.enrol(try second.body(try await second.challenge()).merging(evidence) { $1 })
            #expect(room.count == 43 && attestation.count.withLock { $0 } == 2)
        }
    }

    @Test func malformedRequestsAreRefused() async throws {
        try await withEnrolmentServer { server in
            let caller = Caller(server: server)
            let good = try caller.body(try await caller.challenge())
            for (name, value) in [
                ("key", "AAAA"), ("key", "!"), ("device", ""), ("device", "a\nb"), ("proof", "?"),
                ("device", String(repeating: "d", count: 257)), ("replacedProof", "AAAA"),
            ] {
                #expect(try await caller.enrol(good.merging([name: value]) { $1 }) == "400 malformed")
            }
            for name in ["key", "proof", "device", "challenge"] {
                var body = good
                body[name] = nil
                #expect(try await caller.enrol(body) == "400 malformed")
            }
            let large = good.merging(["device": String(repeating: "x", count: 70_000)]) { $1 }
            #expect(try await caller.enrol(large) == "400 malformed")
            // None of them has used the challenge up.
            #expect(try await caller.enrol(good).count == 43)
        }
    }
}
