import Synchronization

extension ResponseCache {
    enum TierLookup {
        /// A response that has not been written yet.
        case pending(WriteBehindQueue.Value)
        case found(CacheTierEntry)
        case nothing
        /// The disk tier failed with this description of the error.
        case failed(String)
        /// The tier did not respond in time.
        case timedOut
    }

    /// Looks up a key in the disk tier, within the tier's time limit and the call's deadline.
    func findOnDisk(_ key: WriteBehindQueue.EntryKey, in flight: Flight) async -> TierLookup {
        guard let tier, let tierKey = key.tierKey else { return .nothing }
        // A failed clear must be repeated before any lookup.
        startWriteBehind()
        switch state.withLock({ $0.writeBehind.pending(for: key) }) {
        case .stored(let value): return .pending(value)
        case .removed: return .nothing
        case nil: break
        }
        guard tier.mayHold(tierKey) else { return .nothing }
        guard beginLookup() else { return .timedOut }
        defer { state.withLock { $0.waitingLookupCount -= 1 } }
        let lookup = Race<TierLookup>()
        let latest = min(flight.deadline, clock.now + Self.maximumTierWait)
        let token = timer.schedule(at: latest) { lookup.finish(.timedOut) }
        defer { timer.remove(token) }
        return await lookup.run(onCancel: .nothing) { [self] () async -> TierLookup in
            state.withLock { $0.lookupCount += 1 }
            defer { state.withLock { $0.lookupCount -= 1 } }
            do {
                return try await tier.find(tierKey).map(TierLookup.found) ?? .nothing
            } catch {
                return .failed(error.redactedDescription)
            }
        }
    }

    /// Counts a call that waits for a lookup in the tier. Returns `false` if too many abandoned lookups are still in
    /// flight.
    private func beginLookup() -> Bool {
        state.withLock { state in
            guard state.lookupCount - state.waitingLookupCount < Self.maximumAbandonedLookups else { return false }
            state.waitingLookupCount += 1
            return true
        }
    }

    /// Waits until the disk tier has performed all pending operations, successfully or not. Call it, for example,
    /// before the app is suspended.
    ///
    /// The function waits for at most ``maximumFlushWait``, and returns when the task is cancelled. The tier continues
    /// in both cases.
    ///
    /// - Returns: Whether the tier completed in time.
    @discardableResult
    public func flush() async -> Bool {
        guard state.withLock({ $0.writeBehind.isPerforming }) else { return true }
        let flushing = Race<Bool>()
        let token = timer.schedule(at: clock.now + Self.maximumFlushWait) { flushing.finish(false) }
        defer { timer.remove(token) }
        return await flushing.run(onCancel: false) { [self] () async -> Bool in
            while let writing = state.withLock({ $0.writeBehind.isPerforming ? $0.writing : nil }) {
                await writing.value
            }
            return true
        }
    }

    /// Starts the pending operations of the disk tier, unless they are already in progress.
    func startWriteBehind() {
        guard let tier else { return }
        state.withLock { state in
            guard state.writeBehind.begin() else { return }
            state.writing = Task { @concurrent in await self.writeBehind(in: tier) }
        }
    }

    @concurrent private func writeBehind(in tier: any CacheTier) async {
        while true {
            let operations = state.withLock { $0.writeBehind.next() }
            if operations.isEmpty { return }
            do {
                try await tier.apply(operations.compactMap { $0.change(launch: launch) })
                state.withLock { $0.writeBehind.succeed() }
            } catch {
                let continues = state.withLock { state in
                    state.tierFailureCount += 1
                    return state.writeBehind.fail()
                }
                if !continues { return }
            }
        }
    }
}
