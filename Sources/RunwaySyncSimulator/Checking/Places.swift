/// A state that a set of runs must reach, so that the runs show something (sometimes-assertions).
package enum Place: String, CaseIterable, Sendable {
    case absent, announcedRestore, batch, clamped, conflict, crashAfterCommit, crashBeforeCommit, duplicate, forked,
        gap,
        history, horizon, lostResponse, refused, repetition, restore, revoked, snapshot, snapshotOfManyPages,
        splitTransaction, superseded, tooLarge, unreadable, wait, deviceTaken,
        expired, offered, parked, sentAgain, serverWrite, unconditionalBatch, unknownColumn, upgrade, waitingOperation,
        withdrawal
}

/// A hash of what was done, in its order (FNV-1a).
struct Trace {
    private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ first: Int64, _ second: Int) {
        for value in [UInt64(bitPattern: first), UInt64(bitPattern: Int64(second))] {
            hash = (hash ^ value) &* (0x100_0000_01B3 as UInt64)
        }
    }
}
