import Foundation
import RunwayServer
import RunwaySyncCore
import RunwaySyncSimulator
import RunwayTesting
import Synchronization
import Testing

/// The routes of spaces, over sockets.
@Suite(.timeLimit(.minutes(10)))
struct SyncRouterTests {
    private let device = Identifier(high: 5, low: 1)

    private func serve(
        store: SyncStore = .memory(), rights: @escaping SyncService.Rights = { _, _, _ in true },
        _ body: (SyncClient) async throws -> Void
    ) async throws {
        try await SyncClient.serve(SyncService(store: store, rights: rights), body)
    }

    @Test func twoDevicesBecomeEqual() async throws {
        try await serve { (client) async throws -> Void in
            var devices = [SyncedDevice(1, client), SyncedDevice(2, client)]
            for row in UInt64(1)...30 {
                try devices[Int(row) % 2].write(["a": .text("\(row)"), "n": .integer(1)], row)
            }
            for index in [0, 1, 0] { try await devices[index].sync() }
            #expect(devices[0].file.shownRows.count == 30)
            // Both change and delete the same rows without having seen each other.
            try devices[0].write(["a": .text("left")], 1)
            try devices[1].write(["n": .integer(2)], 1)
            try devices[1].write(nil, 2)
            for index in [0, 1, 0] { try await devices[index].sync() }
            let key = RowKey("note", Identifier(high: 1, low: 1))
            #expect(devices[0].file.shown(key) == ["a": .text("left"), "n": .integer(2)])
            #expect(devices[0].file.shownRows == devices[1].file.shownRows)
            #expect(devices[0].file.shownRows.count == 29)
        }
    }

    @Test func brokenPacketsChangeNothing() async throws {
        try await serve { (client) async throws -> Void in
            let packet = SyncRequest.push(Packet(device: device, transactions: [.insert(1)])).wire.body
            let text = String(decoding: packet, as: UTF8.self)
            var broken = [
                "", "{", "[]", "{}", "null", "\u{0}", String(repeating: "[", count: 100_000),
                #"{"device":"x","transactions":[]}"#, #"{"device":"\#(device)","transactions":[]}"#,
                #"{"device":"\#(device)","transactions":[{}]}"#,
                text.replacing(#""number":1"#, with: #""number":1e999"#),
                text.replacing(#""number":1"#, with: #""number":-1"#),
                text.replacing(#""number":1"#, with: #""number":9007199254740993"#),
                text.replacing(#""life":1"#, with: #""life":2"#), text.replacing("note", with: ""),
                text.replacing("insert", with: "drop"), text + text,
            ]
            for length in stride(from: 1, to: text.utf8.count, by: 7) { broken.append(String(text.prefix(length))) }
            for body in broken {
                #expect(try await client.push(body).status == 422, "\(body.prefix(300))")
            }
            #expect(try await client.head() == 0)
            #expect(try await client.push(text).status == 200)
            #expect(try await client.head() == 1)
        }
    }

    @Test func brokenCursorsAreInvalid() async throws {
        try await serve { (client) async throws -> Void in
            let valid = SyncRequest.pull(PullRequest(device: device, cursor: .none, offset: 0)).wire
            for index in valid.query.indices {
                for value in ["", "x", "-1", "99999999999999999999", "1%00"] {
                    var wire = valid
                    wire.query[index] = .init(wire.query[index].name, value)
                    #expect(try await client.send(wire).reply.status == 422)
                }
                var wire = valid
                wire.query.append(wire.query[index])
                #expect(try await client.send(wire).reply.status == 422)
            }
        }
    }

    @Test func otherPathsAndStrangersAreRefused() async throws {
        try await serve { (client) async throws -> Void in
            var (stranger, nowhere) = (client, client)
            stranger.subject = nil
            nowhere.space = "notes"
            let pull = SyncRequest.pull(PullRequest(device: device, cursor: .none, offset: 0)).wire
            #expect(try await stranger.send(pull).reply.status == 401)
            #expect(try await nowhere.send(pull).reply.status == 404)
            #expect(try await client.send(WireRequest(method: .get, name: "push")).reply.status == 404)
            #expect(try await client.send(WireRequest(method: .get, name: "other")).reply.status == 404)
        }
    }

    @Test func tooLargeBodiesAreNotRead() async throws {
        try await serve { (client) async throws -> Void in
            let body = [UInt8](repeating: UInt8(ascii: " "), count: WireBounds.bodyBytes + 1)
            let reply = try await client.send(WireRequest(method: .post, name: "push", body: body)).reply
            #expect(reply == .init(status: 413, text: #"{"error":"tooLarge"}"#))
        }
    }

    @Test func lostRightsCloseTheDevice() async throws {
        let mayRead = Mutex(true)
        try await serve { _, _, access in
            access.kind != .read || mayRead.withLock { $0 }
        } _: { (client) async throws -> Void in
            let verdicts = SyncResponse.verdicts([.applied(1)], head: 1)
            #expect(try await client.push(.insert(1), from: device) == verdicts)
            mayRead.withLock { $0 = false }
            let id = Transaction.insert(1).id
            let revoked = SyncResponse.revoked([Decision(transaction: id, number: 1, verdict: .applied(1))])
            #expect(try await client.push(.insert(2), from: device) == revoked)
            let pull = PullRequest(device: device, cursor: .none, offset: 0)
            #expect(try await client.send(.pull(pull)) == revoked)
            // A space that does not exist gives the same response, and is not created.
            var other = client
            other.space = "00000000-0000-0000-0000-00000000000b"
            #expect(try await other.push(.insert(1), from: device) == .revoked([]))
            mayRead.withLock { $0 = true }
            // The id stays closed.
            #expect(try await client.send(.pull(pull)) == revoked)
            #expect(try await client.push(.insert(1, of: 2), from: Identifier(high: 5, low: 2)) != revoked)
        }
    }

    @Test func aDeviceBelongsToOneSubject() async throws {
        try await serve { (client) async throws -> Void in
            _ = try await client.push(.insert(1), from: device)
            var other = client
            other.subject = "bob"
            #expect(try await other.push(.insert(2), from: device) == .deviceTaken)
            let pull = PullRequest(device: device, cursor: .none, offset: 0)
            #expect(try await other.send(.pull(pull)) == .deviceTaken)
            #expect(try await client.head() == 1)
        }
    }

    @Test func forbiddenChangesAreRefused() async throws {
        try await serve { _, _, access in
            access.values["a"] != .text("no")
        } _: { (client) async throws -> Void in
            let response = try await client.push(
                .insert(1, ["a": .text("no")]), .insert(2, ["a": .text("yes")]), from: device)
            #expect(response == .verdicts([.refused(.forbidden, head: 0), .applied(1)], head: 1))
        }
    }

    @Test func aHookRefusesOneTransaction() async throws {
        let seen = Mutex<[SyncCommit]>([])
        let store = SyncStore.memory { commit in
            if commit.changes[0].values?["a"] == .text("no") { throw SyncRefusal("tooLong") }
            seen.withLock { $0.append(commit) }
        }
        try await serve(store: store) { (client) async throws -> Void in
            let response = try await client.push(
                .insert(1, ["a": .text("yes")]), .insert(2, ["a": .text("no")]), .insert(3), from: device)
            let refused = Verdict.refused(Refusal(name: "tooLong"), head: 1)
            #expect(response == .verdicts([.applied(1), refused, .applied(2)], head: 2))
            let commits = seen.withLock { $0.suffix(2) }
            #expect(commits.map(\.number) == [1, 2])
            #expect(commits.map(\.subject) == ["ada", "ada"])
            #expect(commits.first?.changes.first?.values == ["a": .text("yes")])
        }
    }

    @Test func otherErrorsOfAHookChangeNothing() async throws {
        struct Broken: Error {}
        let isBroken = Mutex(true)
        let store = SyncStore.memory { _ in if isBroken.withLock({ $0 }) { throw Broken() } }
        try await serve(store: store) { (client) async throws -> Void in
            let push = SyncRequest.push(Packet(device: device, transactions: [.insert(1)])).wire
            let (reply, _, retryAfter) = try await client.send(push)
            #expect(reply == .init(status: 503, text: #"{"error":"wait","milliseconds":1000}"#))
            #expect(retryAfter == "1")
            isBroken.withLock { $0 = false }
            #expect(try await client.push(.insert(1), from: device) == .verdicts([.applied(1)], head: 1))
        }
    }
}
