import Foundation
import HTTPTypes
import NIOCore
import RunwaySignatures
import Synchronization

/// The metadata of an upload, stored beside its content so that a restarted server can continue the upload.
struct UploadRecord: Codable, Sendable {
    enum Stage: String, Codable, Sendable {
        case receiving
        /// The app handles the upload. If the server ends in this stage, it is unknown whether the upload took effect.
        case handling
        case complete
    }

    struct Field: Codable, Sendable {
        var name: String
        var value: String
    }

    var method: String
    var scheme: String?
    var authority: String?
    var path: String?
    /// The stored header fields of the first request. Only permitted fields are stored.
    var fields: [Field]
    /// The account that owns the upload; `nil` if anyone who knows its URL may use it.
    var owner: String?
    var source: String?
    var length: Int?
    var stage = Stage.receiving
    /// The size of the content when the app began to handle it.
    var byteCount = 0
    var bootSession: String?
}

/// One upload: the content received so far, and the request that is appending to it.
final class StoredUpload: Sendable {
    enum Failure: Error {
        /// A later request for the upload arrived.
        case superseded
        /// The content exceeds the declared length, which makes the upload invalid.
        case surplus
        /// The content exceeds a limit.
        case tooLarge
        case noSpace
        case file(UploadFile.Failure)
    }

    /// The permission of one request to append. It ends when another request for the upload takes the turn.
    struct Turn: Sendable {
        fileprivate let number: UInt64
    }

    struct Status: Sendable {
        var offset: Int
        var length: Int?
        var stage: UploadRecord.Stage
        var age: Duration
    }

    private struct State {
        var record: UploadRecord
        var offset: Int
        var turn: UInt64 = 0
        /// The channel of the request that is appending; `nil` if no request is appending.
        var channel: (any Channel)?
        /// Resumed when the request that is appending has ended.
        var waiters: [EventLoopPromise<Void>] = []
        var lastUse: Date
        /// The bytes of the upload that count towards the total limit.
        var reserved: Int
        var isRemoved = false

        mutating func takeWaiters() -> [EventLoopPromise<Void>] {
            defer { waiters = [] }
            return waiters
        }
    }

    /// The maximum time for which a request waits until the previous request's content is stored: 5 s.
    private static let settlingTime = TimeAmount.seconds(5)

    let id: String
    let path: String
    let owner: UploadOwner
    /// The owner and the source whose shares include the upload.
    let holders: [UploadSpace.Holder]
    /// Guards the status of the upload. The lock is held while bytes are written, so only threads that may block take
    /// it.
    private let state: Mutex<State>

    var contentPath: String { path + ".content" }

    init(id: String, path: String, _ record: UploadRecord, offset: Int, now: Date) {
        self.id = id
        self.path = path
        owner = UploadOwner(name: record.owner)
        holders =
            [record.owner.map { .owner(ExactText($0)) }, record.source.map { .source(ExactText($0)) }].compactMap(
                \.self)
        state = Mutex(State(record: record, offset: offset, lastUse: now, reserved: offset))
    }

    var record: UploadRecord { state.withLock { $0.record } }
    var reservedByteCount: Int { state.withLock { $0.record.stage == .complete ? 0 : $0.reserved } }

    func status(now: Date) -> Status {
        state.withLock { state in
            Status(
                offset: state.offset, length: state.record.length, stage: state.record.stage,
                age: .milliseconds(Int64(max(0, now.timeIntervalSince(state.lastUse) * 1000))))
        }
    }

    /// Whether a request is appending to the upload.
    var isHeld: Bool { state.withLock { $0.channel != nil } }

    /// Closes the connection of the request that is appending. Waits up to five seconds until its received bytes are
    /// stored.
    ///
    /// The draft asks a server to append as much of an interrupted request as possible. When a client asks for the
    /// offset, its last bytes may still be in memory; without the wait, the client would send them again.
    func settle(before channel: any Channel) async {
        guard let former = state.withLock({ $0.channel }), former !== channel else { return }
        former.close(promise: nil)
        let end = former.eventLoop.makePromise(of: Void.self)
        let limit = former.eventLoop.scheduleTask(in: Self.settlingTime) { end.succeed() }
        let isHeld = state.withLock { state in
            guard state.channel === former else { return false }
            state.waiters.append(end)
            return true
        }
        if !isHeld { end.succeed() }
        try? await end.futureResult.get()
        limit.cancel()
    }

    /// Passes the turn to append to another request, and closes the connection of the previous request.
    ///
    /// When the function returns, the previous request can no longer append: the offset changes only when the new turn
    /// appends.
    func takeTurn(over channel: (any Channel)?, now: Date) -> Turn {
        let (turn, former, waiters) = state.withLock { state in
            state.turn += 1
            state.lastUse = now
            let former = state.channel
            state.channel = channel
            return (Turn(number: state.turn), former, state.takeWaiters())
        }
        for waiter in waiters { waiter.succeed() }
        if let former, former !== channel { former.close(promise: nil) }
        return turn
    }

    /// Ends a turn. Does nothing if another turn has begun.
    func end(_ turn: Turn, now: Date) {
        let waiters = state.withLock { state -> [EventLoopPromise<Void>] in
            guard state.turn == turn.number else { return [] }
            state.channel = nil
            state.lastUse = now
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.succeed() }
    }

    /// Sets the length of the upload.
    ///
    /// - Throws: ``UploadProblem/inconsistentLength`` if the length differs from the length that was set before, or is
    ///   less than the number of received bytes.
    func setLength(_ length: Int?) throws(UploadProblem) {
        guard let length else { return }
        let isConsistent = state.withLock { state in
            guard state.record.length ?? length == length, state.offset <= length else { return false }
            state.record.length = length
            return true
        }
        if !isConsistent { throw .inconsistentLength }
    }

    /// Returns the number of bytes to reserve before `byteCount` bytes can be appended.
    func missingReservation(for byteCount: Int) -> Int {
        state.withLock { max(0, $0.offset + byteCount - $0.reserved) }
    }

    /// Adds reserved bytes. Returns `false` and adds none if the upload was removed.
    func grant(_ byteCount: Int) -> Bool {
        state.withLock { state in
            if state.isRemoved { return false }
            state.reserved += byteCount
            return true
        }
    }

    /// Closes the connection of the request that is appending, and refuses all later requests.
    ///
    /// - Returns: The number of reserved bytes.
    func invalidate() -> Int {
        let (reserved, channel, waiters) = state.withLock { state in
            defer {
                state.isRemoved = true
                state.turn += 1
                state.channel = nil
            }
            let reserved = state.isRemoved || state.record.stage == .complete ? 0 : state.reserved
            return (reserved, state.channel, state.takeWaiters())
        }
        for waiter in waiters { waiter.succeed() }
        channel?.close(promise: nil)
        return reserved
    }

    /// Appends bytes in a turn. Blocks until they are written.
    ///
    /// - Returns: The new offset.
    func append(
        _ bytes: ByteBuffer, to file: UploadFile, in turn: Turn, upTo maximumByteCount: Int
    ) throws(Failure) -> Int {
        try state.withLock { state throws(Failure) in
            guard state.turn == turn.number, state.record.stage == .receiving else { throw .superseded }
            let end = state.offset + bytes.readableBytes
            guard end <= state.record.length ?? .max else { throw .surplus }
            guard end <= maximumByteCount else { throw .tooLarge }
            var failure: UploadFile.Failure?
            bytes.withUnsafeReadableBytes { buffer in
                do throws(UploadFile.Failure) { try file.write(buffer, at: state.offset) } catch { failure = error }
            }
            if let failure { throw .file(failure) }
            state.offset = end
            return end
        }
    }

    /// Moves the upload to another stage, and stores the stage.
    ///
    /// - Returns: `false` if the turn has ended or another request has entered the stage.
    func enter(_ stage: UploadRecord.Stage, in turn: Turn?, now: Date) throws(UploadFile.Failure) -> Bool {
        try state.withLock { state throws(UploadFile.Failure) in
            if let turn, state.turn != turn.number { return false }
            guard state.record.stage != stage, !state.isRemoved else { return false }
            // The record is stored before memory is changed, so if storing fails, the stage has not been entered.
            var record = state.record
            record.stage = stage
            record.byteCount = state.offset
            record.length = record.length ?? state.offset
            try Self.write(record, path)
            state.record = record
            state.lastUse = now
            return true
        }
    }

    func save() throws(UploadFile.Failure) {
        try state.withLock { state throws(UploadFile.Failure) in try Self.write(state.record, path) }
    }

    private static func write(_ record: UploadRecord, _ path: String) throws(UploadFile.Failure) {
        guard let bytes = try? JSONEncoder().encode(record) else {
            throw UploadFile.Failure(operation: "encode", code: EINVAL)
        }
        try UploadFile.replace(path, with: Array(bytes))
    }
}
