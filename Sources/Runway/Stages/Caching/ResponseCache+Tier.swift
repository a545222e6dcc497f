import Synchronization

extension ResponseCache {
    /// What the tier below memory has of a key.
    enum Finding {
        /// An answer that waits to be written there.
        case waiting(KeptAnswer)
        /// An answer that is there.
        case stored(StoredAnswer)
        case nothing
        /// The tier failed, and says why.
        case failed(String)
        /// There was no word of it in time.
        case late
    }

    /// Looks in the tier below memory, within its time and the call's.
    func findBelow(_ key: CacheKey, in flight: Flight) async -> Finding {
        guard let tier, key.outlivesLaunch else { return .nothing }
        // A clear that failed is tried again before anyone looks.
        startWriteBehind()
        switch memory.withLock({ $0.writeBehind.prospect(of: key) }) {
        case .kept(let answer): return .waiting(answer)
        case .gone: return .nothing
        case nil: break
        }
        guard beginLooking() else { return .late }
        defer { memory.withLock { $0.lookingCallCount -= 1 } }
        let finding = Race<Finding>()
        let timer = flight.layer.deadlines
        let latest = min(flight.deadline, flight.clock.now + Self.maximumTierWait)
        let token = timer.schedule(at: latest) { finding.finish(.late) }
        defer { timer.remove(token) }
        return await finding.run(onCancel: .nothing) { [self] () async -> Finding in
            memory.withLock { $0.lookCount += 1 }
            defer { memory.withLock { $0.lookCount -= 1 } }
            do {
                return try await tier.find(key).map(Finding.stored) ?? .nothing
            } catch {
                return .failed(error.redactedDescription)
            }
        }
    }

    /// Counts a call that looks in the tier below; `false` where too many looks that were given up have not come back.
    private func beginLooking() -> Bool {
        memory.withLock { memory in
            guard memory.lookCount - memory.lookingCallCount < Self.maximumForsakenLooks else { return false }
            memory.lookingCallCount += 1
            return true
        }
    }

    /// Waits until the tier below memory has done what it was told so far, or failed to. Before the app is suspended, for instance.
    ///
    /// It waits for ``maximumFlushWait`` at most, and no longer once the task is cancelled. The tier goes on with what is left then.
    ///
    /// - Returns: Whether the tier came to an end in time.
    @discardableResult
    public func flush() async -> Bool {
        guard memory.withLock({ $0.writeBehind.isPerforming }) else { return true }
        let flushing = Race<Bool>()
        let token = timer.schedule(at: clock.now + Self.maximumFlushWait) { flushing.finish(false) }
        defer { timer.remove(token) }
        return await flushing.run(onCancel: false) { [self] () async -> Bool in
            while let performing = memory.withLock({ $0.writeBehind.isPerforming ? $0.performing : nil }) {
                await performing.value
            }
            return true
        }
    }

    /// Starts the operations that wait for the tier, unless they are under way.
    func startWriteBehind() {
        guard let tier else { return }
        memory.withLock { memory in
            guard memory.writeBehind.begin() else { return }
            memory.performing = Task { @concurrent in await self.writeBehind(in: tier) }
        }
    }

    @concurrent private func writeBehind(in tier: any CacheTier) async {
        while let operation = memory.withLock({ $0.writeBehind.next() }) {
            do {
                switch operation {
                case .keep(let answer): try await tier.keep(StoredAnswer(answer), for: answer.key)
                case .remove(let key): try await tier.remove(key)
                case .clear(let scope): try await tier.clear(scope)
                }
                memory.withLock { $0.writeBehind.succeed() }
            } catch {
                let goesOn = memory.withLock { memory in
                    memory.tierFailureCount += 1
                    return memory.writeBehind.fail()
                }
                if !goesOn { return }
            }
        }
    }
}
