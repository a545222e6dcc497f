/// A mistake in what surrounds the core, which a run must find. Others are planted in the core's text by
/// `Scripts/sync-simulator.sh planted`.
package enum PlantedBug: String, CaseIterable, Sendable {
    /// The basis of a transaction is read when it is sent, and not when it is made.
    case basisAtSending
    /// A repeated packet is acknowledged, whatever the first verdict was.
    case verdictLostWithItsResponse
    /// A packet with known numbers counts as a repetition.
    case knownByNumber
    /// A transaction is not shown any more when its verdict comes, before its entry comes.
    case hidesAtVerdict
    /// The application of the log is captured as if the app wrote.
    case capturesTheLog
    /// A write is committed before its capture.
    case captureAfterCommit
    /// Log numbers come from a sequence, so that a reader passes an entry whose commit is late.
    case cursorBySequence
    /// A part of a transaction is applied as if it were all.
    case splitTransaction
    /// The server accepts times of a device that are days ahead.
    case believesClocks
    /// A deleted row leaves no tombstone.
    case purgesTombstones
    /// A snapshot replaces the pending transactions, too.
    case snapshotDropsOutgoing
    /// A restored server continues its epoch, and cursors are numbers only.
    case oldHistory
    /// The server applies a transaction again that it knows.
    case forgetsTransactions
    /// Acknowledged transactions leave the device at once.
    case forgetsAcknowledged
    /// A conflict of numbers ends the synchronisation.
    case conflictIsFinal
    /// A push waits for the next write.
    case waitsForTheNextWrite
    /// A request without a response counts as acknowledged.
    case silenceIsAcknowledged
    /// A transient error drops the packet.
    case errorDropsPacket
    /// The verdict on one transaction counts for all that touch its rows.
    case acknowledgesByRow
}
