import Crypto
import Foundation
import GRDB
import HTTPTypes
import RunwayServer
import RunwaySignatures
import RunwayTesting
import Testing

@testable import RunwayServerStorage

/// Files of servers that were truncated, or in which bytes changed: no crash, a clear error, and nothing of a damaged file is replaced, but
/// that a log of events begins anew.
struct ServerFileDamageTests {
    enum Kind: CaseIterable { case records, keys, events, chat, enrolment }

    private let now = Date(timeIntervalSince1970: 1_790_000_000)
    private let count = 120
    private let response = IdempotentResponse(
        status: 201, headerFields: [.contentType: "application/json"], body: [UInt8](repeating: 65, count: 300))

    private func event(_ index: Int) -> PublishedEvent {
        PublishedEvent(topic: "a", data: "\(index) " + String(repeating: "x", count: 300))
    }

    private func submission(_ index: Int) throws -> ChatSubmission {
        ChatSubmission(
            conversation: "c", sender: "m\(index % 7)", id: try id(index),
            text: "\(index) " + String(repeating: "x", count: 300))
    }

    private func keyRecord(_ index: Int) throws -> KeyRecord {
        let secret = SymmetricKey(data: [UInt8](repeating: UInt8(index), count: 32))
        let time = UnixTime(seconds: 1_790_000_000)
        var record = KeyRecord(
            id: "k\(index)", key: try .hmac(secret), owner: "owner \(index % 12)", notBefore: time,
            notAfter: time + .seconds(1000))
        record.device = "\(index) " + String(repeating: "x", count: 300)
        return record
    }

    private func device(_ index: Int) -> AttestedDevice {
        AttestedDevice(
            id: "d\(index)", publicKey: [UInt8](repeating: 65, count: 300), account: "ada", counter: UInt32(index))
    }

    private func json(_ index: Int) -> [UInt8] {
        Array("{\"n\":\(index),\"text\":\"\(String(repeating: "x", count: 300))\"}".utf8)
    }

    private func id(_ index: Int) throws -> UUID {
        try #require(UUID(uuidString: "00000000-0000-0000-0000-" + String(format: "%012d", index)))
    }

    /// The bytes of a file that was closed.
    private func file(_ kind: Kind) async throws -> Data {
        let folder = ScratchFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        switch kind {
        case .records:
            let sink = try SQLiteActionLogSink(at: folder.file)
            let (installation, stream) = (UUID(), UUID())
            for index in 0..<count {
                let record = ActionLogBatch.Record(id: try id(index), name: "opened", json: json(index))
                _ = try await sink.store(
                    ActionLogBatch(
                        installation: installation, stream: stream, number: Int64(index + 1), account: nil,
                        records: [record]))
            }
            try await sink.close()
        case .keys:
            let store = try SQLiteIdempotencyStore(at: folder.file)
            for index in 0..<count {
                let (key, token) = (IdempotencyKey(principal: "ada", text: "\(index)"), UUID())
                _ = try await store.claim(key, fingerprint: [1], token: token, at: now, lease: .seconds(60))
                _ = try await store.complete(key, token: token, with: response, until: now + 1000)
            }
            try await store.close()
        case .events:
            let log = try SQLiteEventLog(file: folder.file)
            for index in 0..<count { _ = try await log.append([event(index)]) }
            try log.close()
        case .chat:
            let store = try SQLiteChatStore(at: folder.file)
            for index in 0..<count {
                let result = try await store.append(try submission(index), at: 7, upToMembers: 10)
                let message = ChatMessage(try submission(index), number: Int64(index + 1), time: 7)
                #expect(result == .stored(message))
            }
            try await store.close()
        case .enrolment:
            let store = try SQLiteEnrolmentStore(at: folder.file)
            for index in 0..<count {
                let outcome = try await store.enrol(
                    try keyRecord(index), replacing: nil, overlap: .seconds(1), upTo: 1000,
                    at: UnixTime(seconds: 1_790_000_000))
                #expect(outcome == .enrolled)
                let isInserted = try await store.insert(device(index))
                #expect(isInserted)
            }
            try await store.close()
        }
        return try Data(contentsOf: folder.file)
    }

    /// Opens and uses a damaged file.
    ///
    /// - Parameter isExact: Whether what can be read has to be what was written.
    private func use(_ data: Data, as kind: Kind, isExact: Bool, _ comment: Comment) async throws {
        let folder = ScratchFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try data.write(to: folder.file)
        do {
            switch kind {
            case .records:
                let sink = try SQLiteActionLogSink(at: folder.file)
                _ = try await sink.store(ActionLogBatch(1, stream: UUID(), [UUID()]))
                for record in try ActionLogFile(at: folder.file).records(limit: 1000) where isExact {
                    let index = try (0..<count).first { try id($0) == record.id }
                    if let index { #expect(record.json == json(index), comment) }
                }
                try await sink.close()
            case .keys:
                let store = try SQLiteIdempotencyStore(at: folder.file)
                for index in 0..<count {
                    let claim = try await store.claim(
                        IdempotencyKey(principal: "ada", text: "\(index)"), fingerprint: [1], token: UUID(), at: now,
                        lease: .seconds(60))
                    // A damaged row is not executed again, and has no other response; a row that is not found is.
                    let unknown = IdempotentResponse(status: 409, headerFields: [:], body: nil)
                    let isSound = [.completed(response), .completed(unknown), .claimed].contains(claim)
                    #expect(isExact ? claim == .completed(response) : isSound, "\(comment): \(claim)")
                }
                try await store.close()
            case .events: try await useEvents(folder.file, isExact, comment)
            case .chat: try await useChat(folder.file, isExact, comment)
            case .enrolment: try await useEnrolment(folder.file, isExact, comment)
            }
        } catch let error as DatabaseError {
            #expect(kind == .events, "\(comment): \(error)")
        } catch {
            let kinds: [ServerStorageError.Kind] = [.corrupted, .foreign, .newerSchema, .unavailable, .full]
            let isClear = (error as? ServerStorageError).map { kinds.contains($0.kind) } ?? (error is DecodingError)
            #expect(isClear, "\(comment): \(error)")
        }
        // Nobody but the owner decides about a damaged file of a server, except that events begin anew.
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(names.allSatisfy { $0.hasPrefix("file.sqlite") }, comment)
        if kind != .events { #expect(!names.contains { $0.contains("damaged") }, comment) }
    }

    private func useEvents(_ file: URL, _ isExact: Bool, _ comment: Comment) async throws {
        let log = try SQLiteEventLog(file: file)
        let found = try await log.events(after: 0, upTo: 1000).events
        if isExact { #expect(found.isEmpty || found == (0..<count).map(event), comment) }
        _ = try await log.append([event(count)])
    }

    private func useChat(_ file: URL, _ isExact: Bool, _ comment: Comment) async throws {
        let store = try SQLiteChatStore(at: file)
        let page = try await store.page(of: "c", .latest, upTo: 1000, upToMembers: 10)
        if isExact {
            let messages = try (0..<count).map {
                ChatMessage(try submission($0), number: Int64($0 + 1), time: 7)
            }
            #expect(page.messages == messages && page.last == Int64(count), comment)
        }
        for range in [ChatRange.after(60), .before(60), .after(.max), .before(.min)] {
            _ = try await store.page(of: "c", range, upTo: 20, upToMembers: 10)
        }
        _ = try await store.unpublished(in: "c", upTo: 1000)
        _ = try await store.unpublishedConversations(upTo: 10)
        for index in 0..<7 {
            let mark = ChatMark(member: "m\(index)", delivered: 50, read: 40)
            _ = try await store.mark(mark, in: "c", upToMembers: 10)
        }
        _ = try await store.append(try submission(1), at: 8, upToMembers: 10)
        _ = try await store.append(try submission(count), at: 8, upToMembers: 10)
        try await store.close()
    }

    private func useEnrolment(_ file: URL, _ isExact: Bool, _ comment: Comment) async throws {
        let store = try SQLiteEnrolmentStore(at: file)
        for index in 0..<count {
            let (record, found) = (try keyRecord(index), try await store.record(forKeyID: "k\(index)"))
            let device = try await store.device("d\(index)")
            if isExact {
                #expect(found?.owner == record.owner && found?.notAfter == record.notAfter, comment)
                #expect(found?.device == record.device && device == self.device(index), comment)
            }
        }
        for owner in 0..<12 { _ = try await store.records(of: "owner \(owner)") }
        _ = try await store.enrol(
            try keyRecord(count), replacing: "k0", overlap: .seconds(1), upTo: 5, at: UnixTime(seconds: 1_790_000_001))
        _ = try await store.revoke("k1", of: "owner 1")
        _ = try await store.raise("d1", to: 1000)
        try await store.close()
    }

    @Test(arguments: Kind.allCases) func truncationAtEveryPageIsFound(_ kind: Kind) async throws {
        let data = try await file(kind)
        #expect(data.count > 10 * 4096)
        for end in stride(from: 4096, to: data.count, by: 4096) {
            try await use(data.prefix(end), as: kind, isExact: true, "truncated at \(end)")
            // SQLite reads zeros in place of the rest of a page.
            try await use(data.prefix(end + 1000), as: kind, isExact: false, "truncated at \(end + 1000)")
        }
    }

    @Test(arguments: Kind.allCases) func flippedBytesCrashNothing(_ kind: Kind) async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let data = try await file(kind)
        for round in 0..<150 {
            var damaged = data
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                damaged[Int.random(in: 0..<data.count, using: &generator)] ^= UInt8.random(
                    in: 1...255, using: &generator)
            }
            try await use(damaged, as: kind, isExact: false, "seed \(seed), round \(round)")
        }
    }

    /// The sums of all principals, and of one, that bounds are compared with.
    @Test(arguments: ["size", "tally"], [Int64.min, .max])
    func extremeSumsTrapNothing(_ table: String, _ sum: Int64) async throws {
        let folder = ScratchFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try await file(.keys).write(to: folder.file)
        let queue = try DatabaseQueue(path: folder.file.path)
        try await queue.write {
            try $0.execute(sql: "UPDATE \(table) SET count = ?1, bytes = ?1", arguments: [sum])
        }
        try queue.close()
        let store = try SQLiteIdempotencyStore(at: folder.file)
        let key = IdempotencyKey(principal: "ada", text: "new")
        let claim = try? await store.claim(key, fingerprint: [1], token: UUID(), at: now, lease: .seconds(60))
        #expect(claim == (sum < 0 ? .claimed : nil))
        try await store.close()
    }

    #if os(Linux) || os(macOS)
        @Test func fileOfAnotherProcessIsLocked() async throws {
            let folder = ScratchFolder()
            let sink = try SQLiteActionLogSink(at: folder.file)
            await #expect(processExitsWith: .success) { [path = folder.file.path as String] in
                #expect {
                    try SQLiteActionLogSink(at: URL(fileURLWithPath: path))
                } throws: {
                    ($0 as? ServerStorageError)?.kind == .locked
                }
            }
            let stored = try await sink.store(ActionLogBatch(1, stream: UUID(), [UUID()]))
            #expect(stored == .stored(duplicates: []))
        }
    #endif
}
