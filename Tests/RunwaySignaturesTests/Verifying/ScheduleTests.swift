import Crypto
import Foundation
import HTTPTypes
import RunwayTesting
import Testing

@testable import RunwaySignatures

/// Random schedules of rotation, revocation, restarts, nonces of the server and wrong clocks on both sides, compared with a model that knows
/// everything.
struct ScheduleTests {
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func verifierAgreesWithTheModel(seed: UInt64) async throws {
        var schedule = try Schedule(seed: seed)
        defer { schedule.removeFile() }
        for number in 0..<1_000 { try await schedule.step(number) }
        // The schedule has enough of each.
        let (outcomes, common) = (schedule.outcomes, Expected.common)
        #expect(common.allSatisfy { outcomes[$0, default: 0] >= 5 }, "seed \(seed): \(outcomes)")
        #expect(schedule.acceptedServerNonces >= 5 && schedule.acceptedAfterJump >= 5, "seed \(seed): \(outcomes)")
    }
}

/// What should become of a signature, in the order in which it is found out.
private enum Expected: Hashable {
    case accepted, outsideWindow, unknownKey, inactiveKey, beforeStart, replayed
    /// The memory may have removed its nonce while the clock was ahead: refused if it was used.
    case acceptedOrForgotten, replayedOrForgotten
    /// The nonce was issued by the server before it started anew.
    case foreignNonce

    static let common = [accepted, outsideWindow, unknownKey, inactiveKey, beforeStart, replayed]

    func matches(_ reason: SignatureRefusal.Reason?) -> Bool {
        switch self {
        case .accepted: reason == nil
        case .outsideWindow: reason == .tooOld || reason == .inFuture
        case .unknownKey: reason == .unknownKey
        case .inactiveKey: reason == .inactiveKey
        case .beforeStart: reason == .nonceUnknown
        case .replayed: reason == .replayed
        case .acceptedOrForgotten: reason == nil || reason == .nonceUnknown
        case .replayedOrForgotten: reason == .replayed || reason == .nonceUnknown
        case .foreignNonce: reason == .nonceUnknown
        }
    }
}

/// A server and its clients, with plain numbers beside them that say what must happen.
private struct Schedule {
    private struct Key {
        var start: Int64
        var end = Int64.max
        var isRevoked = false
    }

    private struct Message {
        let key: String
        let nonce: String
        let created: Int64
        /// Which server issued the nonce, and when; `nil` for a nonce of the client's own.
        let issue: (server: Int, time: Int64)?
        let request: HTTPRequest

        /// When it was made, by the clock that counts.
        var made: Int64 { issue?.time ?? created }
        /// The earliest moment at which it can have been made.
        var earliest: Int64 { issue?.time ?? created - 30 }
    }

    private let seed: UInt64
    private var random: SeededGenerator
    private let secret = SymmetricKey(size: .bits256)
    private let file: URL
    // The server.
    private var directory = InMemoryKeyDirectory()
    private var nonces = NonceMemory(startedAt: UnixTime(seconds: 0))
    private var serverNonces = ServerNonces()
    // The model.
    private var now: Int64 = 1_790_000_000
    private var start: Int64 = 0
    private var keys: [String: Key] = [:]
    private var used: Set<String> = []
    /// How many servers there were before this one.
    private var server = 0
    /// By how much the server's clock is ahead, and after which step it is set back.
    private var ahead: (seconds: Int64, end: Int)?
    /// When the last nonce expires that was used since the start and had expired by the clock at some time.
    private var lastRemovedExpiry = Int64.min
    /// The last time, by the clock or by a nonce of the server, at which a message was accepted.
    private var lastUse = Int64.min
    private var expiries: [Int64] = []
    private(set) var acceptedServerNonces = 0
    private(set) var acceptedAfterJump = 0
    private var sent: [Message] = []
    private(set) var outcomes: [Expected: Int] = [:]

    init(seed: UInt64) throws {
        (self.seed, random) = (seed, SeededGenerator(seed: seed))
        file = FileManager.default.temporaryDirectory.appending(path: "runway-schedule-\(UUID().uuidString).json")
        try add("k-first")
    }

    func removeFile() { try? FileManager.default.removeItem(at: file) }

    mutating func step(_ number: Int) async throws {
        now += Int64.random(in: 0...8, using: &random)
        moveClock(number)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<3: try rotate(to: "k-\(number)")
        case 3: revoke()
        case 4: if keys.count < 4 { try add("k-\(number)", later: Int64.random(in: 0...60, using: &random)) }
        // A memory can't know what an earlier one accepted by a clock that was ahead.
        case 5: if ahead == nil, lastUse <= now { try restart() }
        case 6..<30:
            if let message = sent.suffix(60).randomElement(using: &random) { try await deliver(message, number) }
        default:
            let message = try sign(number)
            sent.append(message)
            try await deliver(message, number)
        }
    }

    /// The server's clock is sometimes set ahead for a few steps, and then back.
    private mutating func moveClock(_ number: Int) {
        if let jump = ahead {
            guard number >= jump.end else { return }
            now -= jump.seconds
            ahead = nil
        } else if Int.random(in: 0..<100, using: &random) == 0 {
            let seconds = Int64.random(in: 150...250, using: &random)
            now += seconds
            ahead = (seconds, number + Int.random(in: 1...4, using: &random))
        }
    }

    // MARK: - What happens to keys

    private mutating func add(_ id: String, later seconds: Int64 = 0) throws {
        keys[id] = Key(start: now + seconds)
        directory.insert(try record(id, from: now + seconds))
    }

    private mutating func rotate(to new: String) throws {
        guard let old = keys.keys.sorted().randomElement(using: &random), let key = keys[old] else { return }
        let overlap = Int64.random(in: 0...90, using: &random)
        let isRotated = directory.rotate(
            old, to: try record(new, from: now), at: UnixTime(seconds: now), overlap: .seconds(overlap))
        #expect(isRotated == !key.isRevoked)
        guard !key.isRevoked else { return try add(new) }
        keys[old]?.end = min(key.end, now + overlap)
        keys[new] = Key(start: now)
    }

    private mutating func revoke() {
        guard let id = keys.keys.sorted().randomElement(using: &random) else { return }
        keys[id]?.isRevoked = true
        directory.revoke(id)
    }

    /// The server starts anew: it reads its keys from a file, and has forgotten all nonces.
    private mutating func restart() throws {
        let entries = directory.all.map { record in
            var entry = KeyEntry(id: record.id, publicKey: record.key.text, algorithm: .hmacSHA256, owner: record.owner)
            (entry.notBefore, entry.notAfter) = (record.notBefore?.seconds, record.notAfter?.seconds)
            entry.revoked = record.isRevoked
            return entry
        }
        try JSONEncoder().encode(KeyFileContents(keys: entries)).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        directory = InMemoryKeyDirectory(try FileKeyDirectory(file).all)
        // A process that starts in the second in which another ended is no restart: times are whole seconds.
        now += 1
        start = now
        nonces = NonceMemory(startedAt: UnixTime(seconds: now))
        (lastRemovedExpiry, expiries) = (.min, [])
        // Its nonces have another key half of the time.
        guard Bool.random(using: &random) else { return }
        serverNonces = ServerNonces()
        server += 1
    }

    private func record(_ id: String, from start: Int64) throws -> KeyRecord {
        KeyRecord(id: id, key: try .hmac(secret), owner: "anna", notBefore: UnixTime(seconds: start))
    }

    // MARK: - Messages

    /// A message by any key, also one that is unknown, with a clock that may be wrong.
    private mutating func sign(_ number: Int) throws -> Message {
        let isUnknown = Int.random(in: 0..<20, using: &random) == 0
        let id = isUnknown ? "nobody" : keys.keys.sorted().randomElement(using: &random) ?? "nobody"
        let skew = Bool.random(using: &random) ? 0 : Int64.random(in: -160...45, using: &random)
        var exchange = try Exchange(.hmac(secret))
        exchange.created = UnixTime(seconds: now + skew)
        let isIssued = Int.random(in: 0..<4, using: &random) == 0
        let nonce = isIssued ? serverNonces.issue(at: UnixTime(seconds: now)) : "n-\(number)"
        (exchange.keyID, exchange.nonce) = (id, nonce)
        return Message(
            key: id, nonce: nonce, created: now + skew, issue: isIssued ? (server, now) : nil,
            request: try exchange.signed())
    }

    private mutating func deliver(_ message: Message, _ number: Int) async throws {
        var policy = VerificationPolicy(tag: "app")
        policy.serverNonces = serverNonces
        let verifier = SignatureVerifier(policy: policy, keys: directory, nonces: nonces)
        // Removed at most are those whose time is over.
        lastRemovedExpiry = expiries.filter { $0 < now }.reduce(lastRemovedExpiry, max)
        var reason: SignatureRefusal.Reason?
        do throws(SignatureRefusal) {
            _ = try await verifier.verify(
                SignatureContext(message.request), hasBody: true, at: UnixTime(seconds: now))
        } catch {
            reason = error.reason
        }
        let expected = expected(message)
        outcomes[expected, default: 0] += 1
        #expect(
            expected.matches(reason), "seed \(seed), step \(number): \(expected), and \(String(describing: reason))")
        if reason == nil {
            // Over all restarts, no message is accepted twice.
            #expect(used.insert(message.nonce).inserted, "seed \(seed), step \(number)")
            expiries.append(message.made + 120)
            lastUse = max(lastUse, now, message.issue?.time ?? now)
            if message.issue != nil { acceptedServerNonces += 1 }
            if ahead == nil, lastRemovedExpiry > now { acceptedAfterJump += 1 }
        }
    }

    private func expected(_ message: Message) -> Expected {
        if let issue = message.issue, issue.server != server { return .foreignNonce }
        if message.made > now + 30 || message.made + 120 < now { return .outsideWindow }
        guard let key = keys[message.key] else { return .unknownKey }
        if key.isRevoked || now < key.start || now > key.end { return .inactiveKey }
        // A signer's clock may be ahead by as much as is tolerated.
        if message.earliest < start { return .beforeStart }
        let isUsed = used.contains(message.nonce)
        if message.made + 120 <= lastRemovedExpiry { return isUsed ? .replayedOrForgotten : .acceptedOrForgotten }
        return isUsed ? .replayed : .accepted
    }
}
