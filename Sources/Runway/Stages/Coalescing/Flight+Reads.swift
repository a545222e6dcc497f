import Synchronization

extension Flight {
    /// The call waits for a read whose answer others may be given until this call, or another that waits for it, is over.
    func awaitRead(_ read: UInt64) {
        let former = awaitedRead.exchange(read, ordering: .acquiringAndReleasing)
        if former != 0 { context.reads.putAway(former) }
    }

    /// Puts the answer of the read that the call waited for away.
    func passRead() {
        let read = awaitedRead.load(ordering: .acquiring)
        if read != 0 { context.reads.putAway(read) }
    }
}
