import Crypto
import Foundation
import HTTPTypes
import RunwayTesting
import Testing

@testable import RunwaySignatures

/// Random schedules of rotation, revocation, restarts and wrong clocks, compared with a model that knows everything.
struct ScheduleTests {
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func verifierAgreesWithTheModel(seed: UInt64) async throws {
        var schedule = try Schedule(seed: seed)
        defer { schedule.removeFile() }
        for number in 0..<1_000 { try await schedule.step(number) }
        // The schedule has enough of each.
        #expect(schedule.outcomes.count == 6, "seed \(seed): \(schedule.outcomes)")
        #expect(schedule.outcomes.values.allSatisfy { $0 >= 5 }, "seed \(seed): \(schedule.outcomes)")
    }
}

/// What should become of a signature, in the order in which it is found out.
private enum Expected: Hashable {
    case accepted, outsideWindow, unknownKey, inactiveKey, beforeStart, replayed

    func matches(_ reason: SignatureRefusal.Reason?) -> Bool {
        switch self {
        case .accepted: reason == nil
        case .outsideWindow: reason == .tooOld || reason == .inFuture
        case .unknownKey: reason == .unknownKey
        case .inactiveKey: reason == .inactiveKey
        case .beforeStart: reason == .nonceUnknown
        case .replayed: reason == .replayed
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
        let request: HTTPRequest
    }

    private let seed: UInt64
    private var random: SeededGenerator
    private let secret = SymmetricKey(size: .bits256)
    private let file: URL
    // The server.
    private var directory = InMemoryKeyDirectory()
    private var nonces = NonceMemory(startedAt: UnixTime(seconds: 0))
    // The model.
    private var now: Int64 = 1_790_000_000
    private var start: Int64 = 0
    private var keys: [String: Key] = [:]
    private var used: Set<String> = []
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
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<3: try rotate(to: "k-\(number)")
        case 3: revoke()
        case 4: if keys.count < 4 { try add("k-\(number)", later: Int64.random(in: 0...60, using: &random)) }
        case 5: try restart()
        case 6..<30:
            if let message = sent.suffix(60).randomElement(using: &random) { try await deliver(message, number) }
        default:
            let message = try sign(number)
            sent.append(message)
            try await deliver(message, number)
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
        (exchange.keyID, exchange.nonce) = (id, "n-\(number)")
        return Message(key: id, nonce: "n-\(number)", created: now + skew, request: try exchange.signed())
    }

    private mutating func deliver(_ message: Message, _ number: Int) async throws {
        let verifier = SignatureVerifier(policy: VerificationPolicy(tag: "app"), keys: directory, nonces: nonces)
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
        }
    }

    private func expected(_ message: Message) -> Expected {
        if message.created > now + 30 || message.created + 120 < now { return .outsideWindow }
        guard let key = keys[message.key] else { return .unknownKey }
        if key.isRevoked || now < key.start || now > key.end { return .inactiveKey }
        // A signer's clock may be ahead by as much as is tolerated.
        if message.created - 30 < start { return .beforeStart }
        return used.contains(message.nonce) ? .replayed : .accepted
    }
}
