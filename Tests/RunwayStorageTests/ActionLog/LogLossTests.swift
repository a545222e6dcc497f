import Foundation
import HTTPTypes
import Runway
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayStorage

/// Batches to which no response of the service comes: its backend crashes or hangs, or it is down.
@Suite(.timeLimit(.minutes(10)))
struct LogLossTests {
    private static let reset = NetworkError(.noNetwork, in: .transporting, "The connection was reset.", sending: .sent)

    private static func failure(_ status: Int) -> LogServer.Failure {
        status == 0 ? .error(reset) : .status(status)
    }

    /// Flushes, past every backoff, until a condition holds.
    private func drain(
        _ fixture: LogFixture, _ log: ActionLog, until condition: () async throws -> Bool
    ) async throws {
        try await waitUntil("the server to be done") {
            await log.flush()
            return try await condition()
        } meanwhile: {
            fixture.clock.advance(by: .seconds(601))
        }
    }

    /// The statuses, and who is signed in. A gateway that refuses what a record says looks like a server that refuses the account.
    @Test(arguments: [(502, nil), (504, nil), (0, nil), (403, nil), (403, "ada")])
    func recordWithoutAResponseIsSetAsideAlone(_ status: Int, _ account: String?) async throws {
        let fixture = LogFixture(
            LogServer { batch, _ in batch.names.contains("poison") ? Self.failure(status) : nil })
        fixture.signIn(account)
        let log = fixture.open()
        for number in 0..<40 { log.record(number == 17 ? "poison" : "r\(number)") }
        try await drain(fixture, log) { fixture.server.names.count == 39 }
        try await drain(fixture, log) { await log.currentState.setAsideCount == 1 }
        #expect(Set(fixture.server.names) == Set((0..<40).filter { $0 != 17 }.map { "r\($0)" }))
        #expect(fixture.server.countsOnce)
        let refused = try await log.refusedRecords()
        #expect(refused.map { String(decoding: $0.json, as: UTF8.self).contains("poison") } == [true])
        let reason = status == 0 ? "noNetwork" : "status \(status)"
        let isRefusal = status == 403
        #expect(
            refused[0].reason
                == (isRefusal ? "The server refused it with status 403." : "No response came to it: \(reason)."))
        let state = await log.currentState
        #expect(state.lost == [:] && state.waitingCount == 0 && !state.isServerRefusingAll)
        await log.close()
    }

    @Test(arguments: [(502, nil), (0, nil), (403, nil), (403, "ada")])
    func serverThatIsDownHasNothingSetAside(_ status: Int, _ account: String?) async throws {
        let isWell = Flag(false)
        let fixture = LogFixture(LogServer { _, _ in isWell.isOn ? nil : Self.failure(status) })
        fixture.signIn(account)
        let log = fixture.open()
        for number in 0..<40 { log.record("r\(number)") }
        try await drain(fixture, log) { fixture.server.batches.count > 150 }
        // Other records were sent in between, each alone.
        #expect(Set(fixture.server.batches.filter { $0.records.count == 1 }.flatMap(\.names)).count > 2)
        #expect(await log.currentState.setAsideCount == 0)
        isWell.isOn = true
        try await drain(fixture, log) { fixture.server.names.count == 40 }
        let state = await log.currentState
        #expect(fixture.server.countsOnce && state.setAsideCount == 0 && state.lost == [:])
        await log.close()
    }

    @Test func lastRecordWaitsForAnotherOne() async throws {
        let fixture = LogFixture(LogServer { batch, _ in batch.names.contains("poison") ? .status(502) : nil })
        let log = fixture.open()
        log.record("poison")
        try await drain(fixture, log) { fixture.server.batches.count > 60 }
        #expect(await log.currentState.waitingCount == 1)
        for number in 0..<3 { log.record("r\(number)") }
        try await drain(fixture, log) { await log.currentState.setAsideCount == 1 }
        #expect(fixture.server.names == ["r0", "r1", "r2"])
        await log.close()
    }

    @Test func failedSendingIsReportedUntilOneSucceeds() async throws {
        let fixture = LogFixture(
            LogServer { _, count in
                switch count {
                case 0: .status(403)
                case 1: .text("{}")
                case 2: .error(Self.reset)
                default: nil
                }
            })
        let log = fixture.open()
        await log.flush()
        try await log.record("a").committed()
        #expect(await log.currentState.sendingProblem == nil)
        var problems: [String] = []
        // Each of these makes one attempt, and nothing else does: the launch is over, and the clock stands still.
        for _ in 0..<3 {
            await log.flush()
            problems.append(await log.currentState.sendingProblem ?? "none")
        }
        await log.flush()
        #expect(fixture.server.names == ["a"])
        #expect(problems.first == "The server responded with status 403.")
        #expect(problems.dropFirst().first == "The server's response was not one to the batch.")
        #expect(problems.last?.hasPrefix("noNetwork: ") == true)
        #expect(await log.currentState.sendingProblem == nil)
        await log.close()
    }

    @Test func recordingDuringRetryAfterReadsNothingElse() async throws {
        let fixture = LogFixture(LogServer { _, count in count == 0 ? .status(503, retryAfter: 60) : nil })
        let log = fixture.open()
        try await log.record("a").committed()
        await log.flush()
        let count = log.store.operationCount
        for number in 1...5 {
            try await log.record("r\(number)", priority: .high).committed()
            #expect(log.store.operationCount == count + number)
        }
        fixture.clock.advance(by: .seconds(61))
        try await waitUntil("the records") { fixture.server.names.count == 6 }
        await log.close()
    }

    @Test func intervalCountsFromTheOldestThatIsLeft() async throws {
        let gate = ScriptedGate()
        let fixture = LogFixture(LogServer { _, count in count == 0 ? .held(gate) : nil })
        let log = fixture.open { $0.interval = .seconds(60) }
        // What it finds at its launch it would send at once.
        await log.flush()
        for number in 0..<31 { log.record("r\(number)") }
        try await gate.waitForArrivals()
        fixture.clock.advance(by: .seconds(40))
        gate.open()
        try await waitUntil("the first batch") { fixture.server.names.count == 30 }
        // A minute after it was recorded, and not after the batch.
        fixture.clock.advance(by: .seconds(20))
        try await waitUntil("the last record") { fixture.server.names.count == 31 }
        await log.close()
    }

    /// Passes requests on, and notes which had a token.
    private final class TokenWatch: Transport {
        let server = LogServer()
        private let tokens = Mutex<[Bool]>([])

        var hadToken: [Bool] { tokens.withLock { $0 } }

        func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
            tokens.withLock { $0.append(request.head.headerFields[.authorization] != nil) }
            return try await server.send(request, in: flight)
        }
    }

    @Test func recordsOfNobodyAreSentWithoutAToken() async throws {
        let (watch, folder) = (TokenWatch(), ScratchFolder())
        let network = NetworkLayer(
            transport: watch, pipeline: .tested, limits: LayerLimits(admission: .none, retrying: .none))
        var options = ActionLogOptions()
        options.gap = .zero
        let log = ActionLog(at: folder.file, sendingTo: Notebook.self, at: "log", over: network, options: options)
        try await log.record("of nobody").committed()
        try await network.signIn(AccessToken("token-of-ada", account: "ada"), to: Notebook.self)
        try await log.record("of ada").committed()
        await log.flush()
        try await waitUntil("both records") { watch.server.names.count == 2 }
        #expect(watch.server.batches.map { $0.account != nil } == watch.hadToken)
        #expect(Set(watch.hadToken) == [true, false])
        await log.close()
    }
}
