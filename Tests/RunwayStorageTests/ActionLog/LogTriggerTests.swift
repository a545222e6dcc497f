import Foundation
import Runway
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayStorage

/// What makes a log send and write, and what stops it.
@Suite(.timeLimit(.minutes(10)))
struct LogTriggerTests {
    /// A source that reports no change.
    private final class SilentStatus: NetworkStatusSource {
        private let status = Mutex(NetworkStatus.none)

        var current: NetworkStatus {
            get { status.withLock { $0 } }
            set { status.withLock { $0 = newValue } }
        }

        func observe(_ onChange: @escaping @Sendable () -> Void) -> NetworkStatusObservation {
            NetworkStatusObservation {}
        }
    }

    @Test func signInSendsWhatWaits() async throws {
        let fixture = LogFixture()
        fixture.signIn("ada")
        let log = fixture.open()
        // What waits at launch is sent. The record comes later.
        await log.flush()
        try await log.record("of ada").committed()
        fixture.signIn(nil)
        await log.flush()
        #expect(fixture.server.batches.isEmpty)
        fixture.signIn("ada")
        try await waitUntil("the record") { fixture.server.names == ["of ada"] }
        await log.close()
    }

    /// Thirty records that wait, an interval that has passed, important records and flushes all have a batch sent.
    @Test func oneBatchIsInFlightAtATime() async throws {
        let gates = (0..<4).map { _ in ScriptedGate() }
        let fixture = LogFixture(LogServer { _, count in count < gates.count ? .held(gates[count]) : nil })
        let log = fixture.open { $0.interval = .seconds(60) }
        for number in 0..<100 { log.record("r\(number)") }
        var flushes: [Task<Void, Never>] = []
        for gate in gates {
            try await gate.waitForArrivals()
            for _ in 0..<3 { flushes.append(Task { await log.flush() }) }
            fixture.clock.advance(by: .seconds(61))
            for _ in 0..<30 { log.record("more") }
            try await log.record("paid", priority: .high).committed()
            gate.open()
        }
        for flush in flushes { await flush.value }
        try await fixture.drain(log, upTo: 100 + gates.count * 31)
        #expect(fixture.server.mostInFlight == 1 && fixture.server.countsOnce)
        await log.close()
    }

    @Test func timerOpensAFileLockedAtLaunch() async throws {
        let first = LogFixture()
        first.status.set(.none)
        let holder = first.open()
        try await holder.record("left").committed()
        let second = LogFixture(in: first.folder)
        let log = second.open()
        // Its only timer: the file was tried, and is locked.
        try await second.clock.waitForSleepers()
        await holder.close()
        second.clock.advance(by: SendPace.checkInterval)
        try await waitUntil("the record") { second.server.names == ["left"] }
        await log.close()
    }

    @Test func failedWriteIsRepeatedByATimer() async throws {
        let fixture = LogFixture()
        fixture.status.set(.none)
        try Data("a file where the folder should be".utf8).write(to: fixture.folder.url)
        let log = fixture.open()
        await #expect(throws: StorageError.self) { try await log.record("a").committed() }
        try FileManager.default.removeItem(at: fixture.folder.url)
        try await waitUntil("the record on disk, and not in memory") {
            let state = await log.currentState
            return state.waitingCount == 1 && state.bufferedCount == 0
        } meanwhile: {
            fixture.clock.advance(by: .seconds(1))
        }
        await log.close()
    }

    @Test func timerFindsANetworkThatReturnedUnnoticed() async throws {
        let source = SilentStatus()
        let fixture = LogFixture(source: source)
        let log = fixture.open()
        for number in 0..<30 { log.record("r\(number)") }
        await log.flush()
        source.current = .wifi
        #expect(fixture.server.batches.isEmpty)
        try await waitUntil("the records") {
            fixture.server.names.count == 30
        } meanwhile: {
            fixture.clock.advance(by: .seconds(60))
        }
        await log.close()
    }

    @Test(arguments: [
        NetworkStatus(.wifi, isConstrained: true), .cellular, NetworkStatus(.wifi, isExpensive: true),
    ])
    func recordsWaitForANetworkThatIsAllowed(_ refused: NetworkStatus) async throws {
        let fixture = LogFixture()
        fixture.status.set(refused)
        let log = fixture.open {
            $0.allowsNetwork = { $0.isReachable && !$0.isConstrained && !$0.isExpensive }
        }
        for number in 0..<40 { log.record("r\(number)") }
        await log.flush()
        #expect(fixture.server.batches.isEmpty)
        fixture.status.set(.wifi)
        try await waitUntil("the records") { fixture.server.names.count == 40 }
        await log.close()
    }

    @Test func timerReadsTheAppsConditionAgain() async throws {
        let fixture = LogFixture()
        let isLowPower = Flag(true)
        let log = fixture.open { $0.allowsNetwork = { $0.isReachable && !isLowPower.isOn } }
        for number in 0..<40 { log.record("r\(number)") }
        await log.flush()
        #expect(fixture.server.batches.isEmpty)
        isLowPower.isOn = false
        try await waitUntil("the records") {
            fixture.server.names.count == 40
        } meanwhile: {
            fixture.clock.advance(by: .seconds(60))
        }
        await log.close()
    }

    @Test func dateThatJumpsBackAYearDelaysNothing() async throws {
        let wall = Wall(date: Date(timeIntervalSince1970: 1_790_000_000))
        let fixture = LogFixture(wall: { wall.date })
        let log = fixture.open {
            $0.interval = .seconds(60)
            $0.maximumAge = .seconds(3600)
        }
        // What it finds at its launch it would send at once.
        await log.flush()
        try await log.record("before").committed()
        wall.date -= 365 * 86_400
        try await log.record("after").committed()
        #expect(fixture.server.batches.isEmpty)
        try await fixture.clock.waitForSleepers()
        fixture.clock.advance(by: .seconds(60))
        try await waitUntil("both records") { fixture.server.names == ["before", "after"] }
        #expect(await log.currentState.lost == [:])
        await log.close()
    }

    private final class Wall: Sendable {
        private let value: Mutex<Date>

        init(date: Date) { value = Mutex(date) }

        var date: Date {
            get { value.withLock { $0 } }
            set { value.withLock { $0 = newValue } }
        }
    }

    @Test func recordsFromBeforeTheLayerAreSent() async throws {
        let fixture = LogFixture()
        var options = ActionLogOptions()
        options.survivesPowerLoss = false
        options.gap = .zero
        options.maximumBufferedCount = 1000
        let log = ActionLog(at: fixture.folder.file, options: options, clock: fixture.network.clock)
        for number in 0..<1000 { log.record("r\(number)") }
        try await log.record("last").committed()
        await log.flush()
        let state = await log.currentState
        #expect(state.waitingCount + (state.lost[.memory] ?? 0) == 1001)
        log.start(sendingTo: LogService.self, at: "log", over: fixture.network)
        try await waitUntil("the records") { fixture.server.names.count == state.waitingCount }
        #expect(fixture.server.names.last == "last")
        #expect(fixture.server.batches.allSatisfy { $0.account == nil })
        await log.close()
    }

    @Test func writeAheadLogIsBounded() async throws {
        let fixture = LogFixture()
        fixture.status.set(.none)
        let log = fixture.open()
        var largest = 0
        for group in 0..<40 {
            for _ in 0..<500 { log.record("r\(group)", ["text": .string(String(repeating: "x", count: 200))]) }
            try await log.record("last").committed()
            largest = max(largest, await log.currentState.logByteCount)
        }
        let state = await log.currentState
        #expect(state.waitingByteCount > 6 << 20)
        #expect((1...6 << 20).contains(largest), "\(largest)")
        await log.close()
    }
}
