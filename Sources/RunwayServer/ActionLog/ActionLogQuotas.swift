package import Foundation
import RunwaySignatures
import Synchronization

/// Limits for the size of the records that a sink stores: in total, per installation, and per source in a day.
///
/// ```swift
/// var quotas = ActionLogQuotas()
/// quotas.maximumByteCount = 200 << 30
/// let sink = try SQLiteActionLogSink(at: folder.appending(path: "actions.sqlite"), quotas: quotas)
/// ```
///
/// A record counts the bytes of its JSON, its name and its account, plus 256 bytes for its row and the indexes. These
/// 256 bytes count forever, since the id stays when the contents are erased. A stream also counts 256 bytes. The quotas
/// therefore limit the number of ids that clients send, too.
///
/// A batch that exceeds a quota is not stored, and its client sends it again later: see ``StoreRefusal``.
public struct ActionLogQuotas: Sendable, Hashable {
    /// The maximum size of the log in bytes. The default is 64 GiB. Set it to the disk space for the log.
    ///
    /// In a SQLite file, the size is that of the pages in use. The file never grows into the last 10 MiB of its disk:
    /// an erasure needs that space.
    public var maximumByteCount = Int(clamping: Int64(64) << 30)
    /// The maximum number of bytes per installation. The default is 1 GiB. Lower it if you remove contents after some
    /// months, and raise it if one installation may send more than a million records.
    public var maximumInstallationByteCount = 1 << 30
    /// The share of the log that one source (an account or a client address) may use in a day: a fraction, from 0 to 1,
    /// of the space that the other sources leave. The default is 0.1.
    ///
    /// With the default, one source never fills the log, and ten sources use at most two thirds of it in a day. A
    /// source that has sent nothing for a day may send one batch of any size, if the log has space for it. Raise the
    /// fraction if all clients come from one source, such as a proxy.
    public var shareOfSource = 0.1

    /// Creates quotas with the default values.
    public init() {}
}

extension ActionLogBatch {
    /// The fixed cost of a database row in bytes, in addition to its contents. Each record, including its index
    /// entries, and each stream has this cost.
    package static let rowByteCount = 256

    /// The bytes of the batch that count towards the quotas, if none of its records is stored yet.
    package var byteCount: Int { byteCount(without: []) }

    /// Returns the bytes of the batch that count towards the quotas. Records whose ids are in `known` are not counted.
    package func byteCount(without known: Set<UUID>) -> Int {
        var ids = known
        return records.reduce(streamByteCount) { $0 + (ids.insert($1.id).inserted ? byteCount(of: $1) : 0) }
    }

    /// The cost of storing the batch's stream, in bytes. Only the first batch of a stream adds it.
    package var streamByteCount: Int { number == 1 ? Self.rowByteCount : 0 }

    /// Returns the bytes of one record that count towards the quotas.
    package func byteCount(of record: Record) -> Int {
        Self.rowByteCount + record.json.count + record.name.utf8.count + (account?.utf8.count ?? 0)
    }
}

/// Enforces the quotas of a sink. It counts the bytes of sources in memory, so that no address is written to disk; the
/// sink counts the rest.
///
/// Each source has one slot, chosen by its hash. If two sources share a slot, the slot belongs to the source that sent
/// last.
package final class ActionLogGate: Sendable {
    fileprivate struct Slot {
        var source = 0
        var byteCount = 0.0
        var time = Int64.min
    }

    private static let slotCount = 4096

    package let quotas: ActionLogQuotas
    /// Guards the bytes that each source has sent.
    private let slots = Mutex(Array(repeating: Slot(), count: slotCount))

    package init(_ quotas: ActionLogQuotas) { self.quotas = quotas }

    /// Begins the quota checks of one transaction.
    ///
    /// - Parameters:
    ///   - freeByteCount: The free space of the log in bytes.
    ///   - time: The date in milliseconds since 1970.
    package func room(of freeByteCount: Int, at time: Int64) -> ActionLogRoom {
        ActionLogRoom(gate: self, freeByteCount: max(0, freeByteCount), time: time)
    }

    /// Returns the bytes that a source has sent. Each byte counts for one day, with decreasing weight.
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

    /// Returns the byte count of a slot, decreased by the time since its last change. If the clock was set back, the
    /// count does not change.
    private static func rest(of slot: Slot, at time: Int64) -> Double {
        guard slot.time != .min, time > slot.time else { return slot.byteCount }
        return slot.byteCount * max(0, 1 - Double(time - slot.time) / 86_400_000)
    }
}

/// Checks the batches of one transaction against the quotas, and counts their bytes.
package struct ActionLogRoom: Sendable {
    fileprivate let gate: ActionLogGate
    fileprivate var freeByteCount: Int
    fileprivate let time: Int64
    private var added: [ExactText: Int] = [:]

    fileprivate init(gate: ActionLogGate, freeByteCount: Int, time: Int64) {
        (self.gate, self.freeByteCount, self.time) = (gate, freeByteCount, time)
    }

    /// Returns why a batch exceeds a quota; `nil` if it can be stored.
    ///
    /// - Parameters:
    ///   - installationByteCount: The stored bytes of the batch's installation.
    ///   - known: Returns the ids of the batch's records that are already stored and therefore cost nothing. Called
    ///     only if the batch with all its records would exceed a quota.
    package func refusal<Failure: Error>(
        of batch: ActionLogBatch, installationByteCount: Int, known: () throws(Failure) -> Set<UUID>
    ) throws(Failure) -> StoreRefusal? {
        guard refusal(of: batch, batch.byteCount, installationByteCount) != nil else { return nil }
        return refusal(of: batch, batch.byteCount(without: try known()), installationByteCount)
    }

    private func refusal(
        of batch: ActionLogBatch, _ byteCount: Int, _ installationByteCount: Int
    ) -> StoreRefusal? {
        if installationByteCount > gate.quotas.maximumInstallationByteCount - byteCount {
            return .installation()
        }
        if byteCount > freeByteCount { return .full() }
        let source = ExactText(batch.source ?? "")
        let sent = gate.byteCount(of: source.text, at: time) + Double(added[source, default: 0])
        let room = gate.quotas.shareOfSource * (Double(freeByteCount) + sent) - Double(byteCount)
        // A source that has sent nothing may exceed its share once. Otherwise, a batch larger than the share would be
        // refused forever.
        if sent <= room || sent == 0 { return nil }
        // The time until the source's count has decayed enough. Other batches may change the count, so the wait is at
        // most an hour.
        let wait = room <= 0 ? 3600 : min(3600, max(1, 86_400 * (1 - room / sent)))
        return .source(retryAfter: .seconds(Int64(wait.rounded(.up))))
    }

    /// Records that the transaction stores `byteCount` bytes of a batch.
    package mutating func add(_ byteCount: Int, of batch: ActionLogBatch) {
        freeByteCount = max(0, freeByteCount - byteCount)
        added[ExactText(batch.source ?? ""), default: 0] += byteCount
    }

    package var addedByteCount: Int { added.values.reduce(0, +) }

    /// Adds the bytes to the counts of the sources, after the transaction was committed.
    package func didCommit() { for (source, byteCount) in added { gate.add(byteCount, to: source.text, at: time) } }
}
