import RunwayTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ManualClockTests {
    @Test func standsStillUntilAdvanced() {
        let clock = ManualClock()
        let start = clock.now
        #expect(clock.now == start)
        clock.advance(by: .milliseconds(1500))
        #expect(start.duration(to: clock.now) == .milliseconds(1500))
        #expect(clock.now.description == "+1.5 seconds")
        #expect(clock.minimumResolution == .zero)
    }

    @Test func timeNeverDecreases() {
        let clock = ManualClock(now: ManualClock.Instant(offset: .seconds(10)))
        clock.advance(by: .seconds(-3))
        clock.advance(to: ManualClock.Instant(offset: .seconds(2)))
        #expect(clock.now.offset == .seconds(10))
    }

    @Test func sleeperWakesAtItsDeadlineAndNotBefore() async throws {
        let clock = ManualClock()
        let sleeper = Task {
            try await clock.sleep(for: .seconds(10))
            return clock.now
        }
        try await clock.waitForSleepers()
        #expect(clock.nextDeadline?.offset == .seconds(10))
        clock.advance(by: .milliseconds(9999))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .milliseconds(1))
        #expect(clock.sleeperCount == 0)
        #expect(try await sleeper.value.offset == .seconds(10))
    }

    @Test func pastDeadlineReturnsAtOnce() async throws {
        let clock = ManualClock()
        clock.advance(by: .seconds(5))
        try await clock.sleep(until: ManualClock.Instant(offset: .seconds(5)), tolerance: nil)
        try await clock.sleep(until: ManualClock.Instant(offset: .seconds(1)))
        #expect(clock.sleeperCount == 0)
    }

    @Test func servesAsAnyClock() async throws {
        let manual = ManualClock()
        let clock: any Clock<Duration> = manual
        async let slept: Void = clock.sleep(for: .seconds(1))
        try await manual.waitForSleepers()
        manual.advance(by: .seconds(1))
        try await slept
    }

    @Test func advanceToWakesOnlyWhoIsDue() async throws {
        let clock = ManualClock()
        let tasks = (1...3).map { second in Task { try await clock.sleep(for: .seconds(second)) } }
        try await clock.waitForSleepers(count: 3)
        clock.advance(to: ManualClock.Instant(offset: .seconds(2)))
        #expect(clock.sleeperCount == 1)
        #expect(clock.nextDeadline?.offset == .seconds(3))
        clock.advance(by: .seconds(1))
        for task in tasks { try await task.value }
    }

    @Test func cancelledSleeperThrowsAndIsForgotten() async throws {
        let clock = ManualClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(10)) }
        try await clock.waitForSleepers()
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.sleeperCount == 0)
        #expect(clock.nextDeadline == nil)
    }

    @Test func dueSleepThrowsInACancelledTask() async throws {
        let clock = ManualClock()
        let gate = AsyncStream<Void>.makeStream()
        let sleeper = Task {
            for await _ in gate.stream {}
            try await clock.sleep(for: .zero)
        }
        sleeper.cancel()
        gate.continuation.finish()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test func waitForSleepersHoldsUntilEnoughSleep() async throws {
        let clock = ManualClock()
        let passed = Mutex(false)
        let waiter = Task {
            try await clock.waitForSleepers(count: 2)
            passed.withLock { $0 = true }
        }
        let first = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.waitForSleepers(count: 1)
        #expect(passed.withLock { $0 } == false)
        let second = Task { try await clock.sleep(for: .seconds(1)) }
        try await waiter.value
        #expect(clock.sleeperCount == 2)
        clock.advance(by: .seconds(1))
        try await first.value
        try await second.value
    }

    @Test func waitForSleepersCanBeCancelled() async throws {
        let clock = ManualClock()
        let waiter = Task { try await clock.waitForSleepers(count: 1) }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
    }

    @Test func waitForSleepersTimesOutWithASentence() async throws {
        let clock = ManualClock()
        let error = await #expect(throws: WaitTimedOut.self) {
            try await clock.waitForSleepers(count: 2, within: .milliseconds(1))
        }
        #expect(error?.description == "Gave up after 0.001 seconds: waited for 2 sleepers, saw 0.")
    }

    @Test func repeatedSleeperIsFollowedStepByStep() async throws {
        let clock = ManualClock()
        let ticks = Mutex(0)
        let ticker = Task {
            for _ in 0..<100 {
                try await clock.sleep(for: .seconds(1))
                ticks.withLock { $0 += 1 }
            }
        }
        for tick in 0..<100 {
            try await clock.waitForSleepers()
            #expect(ticks.withLock { $0 } == tick)
            clock.advance(by: .seconds(1))
        }
        try await ticker.value
        #expect(clock.now.offset == .seconds(100))
    }

    /// Every sleeper ends exactly once, woken or cancelled, whatever races: a continuation that is lost hangs the
    /// group, one that is resumed twice traps.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func everySleeperEndsWhenAdvancingRacesCancelling(seed: UInt64) async throws {
        let clock = ManualClock()
        var random = SeededGenerator(seed: seed)
        let delays = (0..<2000).map { _ in Int(random.next() % 50) }
        let sleepers = delays.map { delay in
            Task { try await clock.sleep(until: ManualClock.Instant(offset: .seconds(delay))) }
        }
        async let cancelling: Void = Self.cancel(every: 2, of: sleepers)
        async let advancing: Void = Self.advance(clock, steps: 60)
        _ = await (cancelling, advancing)
        for (index, sleeper) in sleepers.enumerated() {
            // The clock stands past every deadline now, so nobody who starts to sleep only now is left asleep.
            switch await sleeper.result {
            case .success: break
            case .failure(let error):
                #expect(error is CancellationError, "seed \(seed)")
                #expect(index % 2 == 0, "seed \(seed): only cancelled sleepers may throw")
            }
        }
        #expect(clock.sleeperCount == 0, "seed \(seed)")
    }

    @concurrent private static func cancel(every step: Int, of tasks: [Task<Void, any Error>]) async {
        for index in stride(from: 0, to: tasks.count, by: step) { tasks[index].cancel() }
    }

    @concurrent private static func advance(_ clock: ManualClock, steps: Int) async {
        for _ in 0..<steps {
            clock.advance(by: .seconds(1))
            await Task.yield()
        }
    }
}
