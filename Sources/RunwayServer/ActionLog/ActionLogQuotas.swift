package import Foundation
import RunwaySignatures
import Synchronization

/// How many bytes of records a sink stores: in all, of one installation, and of one source in a day.
///
/// ```swift
/// var quotas = ActionLogQuotas()
/// quotas.maximumByteCount = 200 << 30
/// let sink = try SQLiteActionLogSink(at: folder.appending(path: "actions.sqlite"), quotas: quotas)
/// ```
///
/// A record counts with the bytes of its JSON, its name and its account, and with 256 more for its row and the indexes.
/// Those 256 count for ever, since its id stays when its contents are erased. A stream counts with 256, too. So what
/// clients send bounds both what they say and how many ids they use. A batch beyond a quota is not stored, and its
/// client sends it again later: see ``ActionLogQuotaExceeded``.
public struct ActionLogQuotas: Sendable, Hashable {
    /// The most bytes of the log. The default is 64 GiB. Set it to what the disk has for the log. A SQLite file counts
    /// with the pages that it uses, and takes the last 10 MiB of its disk in no case, which an erasure needs.
    public var maximumByteCount = Int(clamping: Int64(64) << 30)
    /// The most bytes of one installation. The default is 1 GiB. Lower it if you remove contents after some months, and
    /// raise it if one installation may send more than a million records.
    public var maximumInstallationByteCount = 1 << 30
    /// The fraction, from 0 to 1, of the space that the others leave in the log, which one source may take in a day.
    /// The default is 0.1. So a source never fills the log, and ten sources take two thirds of it in a day at most. A
    /// source that has sent nothing in its day may send one batch, also a larger one, if the log has room for it. Raise
    /// the fraction if all clients come from one source, such as a proxy.
    public var shareOfSource = 0.1

    /// Creates quotas with their defaults.
    public init() {}
}

/// A sink has no room for a batch by its ``ActionLogQuotas``. ``ActionLogRoute`` responds with 429, or with 503 if the
/// log is full, and with `Retry-After`: the client waits with the records, and sends them again.
public struct ActionLogQuotaExceeded: Error, Sendable, Hashable, CustomStringConvertible {
    /// What has no room.
    public struct Quota: Sendable, Hashable, CustomStringConvertible {
        /// The quota in one word, which stays the same from release to release.
        public let description: String

        /// The installation has as many bytes as allowed.
        public static let installation = Quota(description: "installation")
        /// The source has sent as much as it may in a day.
        public static let source = Quota(description: "source")
        /// The log or its disk is full.
        public static let log = Quota(description: "log")
    }

    /// What has no room.
    public let quota: Quota
    /// How long the client waits before it sends the batch again.
    public let retryAfter: Duration

    /// Lets a sink of your own refuse a batch for which it has no room.
    ///
    /// - Parameters:
    ///   - quota: What has no room.
    ///   - retryAfter: How long the client waits. The default is ten minutes.
    public init(_ quota: Quota, retryAfter: Duration = .seconds(600)) {
        (self.quota, self.retryAfter) = (quota, retryAfter)
    }

    /// What happened, in one sentence.
    public var description: String {
        switch quota {
        case .installation: "The installation has as many bytes in the log as it may."
        case .source: "The client's address or identity has sent as much today as it may."
        default: "The log has no space."
        }
    }
}

extension ActionLogBatch {
    /// What a row counts, whatever is in it: a record's with those of the indexes, or a stream's.
    package static let rowByteCount = 256

    /// What the batch counts if none of its records is stored yet.
    package var byteCount: Int { byteCount(without: []) }

    /// What the batch counts if the records with these ids are stored already.
    package func byteCount(without known: Set<UUID>) -> Int {
        var ids = known
        return records.reduce(streamByteCount) { $0 + (ids.insert($1.id).inserted ? byteCount(of: $1) : 0) }
    }

    /// What the batch counts for its stream, which is new with its first batch.
    package var streamByteCount: Int { number == 1 ? Self.rowByteCount : 0 }

    /// What one of the records counts.
    package func byteCount(of record: Record) -> Int {
        Self.rowByteCount + record.json.count + record.name.utf8.count + (account?.utf8.count ?? 0)
    }
}

/// Holds the batches of a sink within its quotas. It counts what sources have sent, in memory, so that no address is on
/// disk; the sink counts the rest.
///
/// Each source has one slot by its hash. Of two sources with the same slot, the one that sent last has it.
package final class ActionLogGate: Sendable {
    fileprivate struct Slot {
        var source = 0
        var byteCount = 0.0
        var time = Int64.min
    }

    private static let slotCount = 4096

    package let quotas: ActionLogQuotas
    /// Guards what each source has sent.
    private let slots = Mutex(Array(repeating: Slot(), count: slotCount))

    package init(_ quotas: ActionLogQuotas) { self.quotas = quotas }

    /// Begins a transaction.
    ///
    /// - Parameters:
    ///   - freeByteCount: How many bytes the log has room for.
    ///   - time: The date in milliseconds since 1970.
    package func room(of freeByteCount: Int, at time: Int64) -> ActionLogRoom {
        ActionLogRoom(gate: self, freeByteCount: max(0, freeByteCount), time: time)
    }

    /// What a source has sent by now: each byte counts for a day, and less and less.
    fileprivate func byteCount(of source: String, at time: Int64) -> Double {
        let hash = ExactText(source).hashValue
        return slots.withLock { slots in
            let slot = slots[Self.index(of: hash)]
            return slot.source == hash ? Self.rest(of: slot, at: time) : 0
        }
    }

    fileprivate func add(_ byteCount: Int, to source: String, at time: Int64) {
        let hash = ExactText(source).hashValue
        slots.withLock { slots in
            let index = Self.index(of: hash)
            let rest = slots[index].source == hash ? Self.rest(of: slots[index], at: time) : 0
            slots[index] = Slot(source: hash, byteCount: rest + Double(byteCount), time: time)
        }
    }

    private static func index(of hash: Int) -> Int { Int(UInt(bitPattern: hash) % UInt(slotCount)) }

    /// A clock that was set back makes nothing good.
    private static func rest(of slot: Slot, at time: Int64) -> Double {
        guard slot.time != .min, time > slot.time else { return slot.byteCount }
        return slot.byteCount * max(0, 1 - Double(time - slot.time) / 86_400_000)
    }
}

/// The room that a log has for the batches of one transaction.
package struct ActionLogRoom: Sendable {
    fileprivate let gate: ActionLogGate
    fileprivate var freeByteCount: Int
    fileprivate let time: Int64
    /// The bytes that the transaction stores, by source.
    private var added: [ExactText: Int] = [:]

    fileprivate init(gate: ActionLogGate, freeByteCount: Int, time: Int64) {
        (self.gate, self.freeByteCount, self.time) = (gate, freeByteCount, time)
    }

    /// Why a batch has no room; `nil` if it has.
    ///
    /// - Parameters:
    ///   - installationByteCount: What its installation has by now.
    ///   - known: Returns the ids of its records that are stored already, and count nothing. It is called only if there
    ///     is no room for all of them.
    package func refusal<Failure: Error>(
        of batch: ActionLogBatch, installationByteCount: Int, known: () throws(Failure) -> Set<UUID>
    ) throws(Failure) -> ActionLogQuotaExceeded? {
        guard refusal(of: batch, batch.byteCount, installationByteCount) != nil else { return nil }
        return refusal(of: batch, batch.byteCount(without: try known()), installationByteCount)
    }

    private func refusal(
        of batch: ActionLogBatch, _ byteCount: Int, _ installationByteCount: Int
    ) -> ActionLogQuotaExceeded? {
        if installationByteCount > gate.quotas.maximumInstallationByteCount - byteCount {
            return ActionLogQuotaExceeded(.installation)
        }
        if byteCount > freeByteCount { return ActionLogQuotaExceeded(.log) }
        let source = ExactText(batch.source ?? "")
        let sent = gate.byteCount(of: source.text, at: time) + Double(added[source, default: 0])
        let room = gate.quotas.shareOfSource * (Double(freeByteCount) + sent) - Double(byteCount)
        // A batch that is larger than the share would be refused for ever.
        if sent <= room || sent == 0 { return nil }
        // When what it has sent has decayed so far. Other batches may change that, so that it is asked for no more than
        // an hour.
        let wait = room <= 0 ? 3600 : min(3600, max(1, 86_400 * (1 - room / sent)))
        return ActionLogQuotaExceeded(.source, retryAfter: .seconds(Int64(wait.rounded(.up))))
    }

    /// The transaction stores so many bytes of a batch.
    package mutating func add(_ byteCount: Int, of batch: ActionLogBatch) {
        freeByteCount = max(0, freeByteCount - byteCount)
        added[ExactText(batch.source ?? ""), default: 0] += byteCount
    }

    /// The bytes that the transaction stores.
    package var addedByteCount: Int { added.values.reduce(0, +) }

    /// The transaction is committed.
    package func didCommit() { for (source, byteCount) in added { gate.add(byteCount, to: source.text, at: time) } }
}
