import NIOCore
import Testing

@testable import RunwayTransport

/// Which request goes on which connection.
struct PoolMachineTests {
    private func machine(maximumConnections: Int = 2, maximumWaiting: Int = 10, mayShare: Bool = false)
        -> MachineUnderTest
    {
        MachineUnderTest(
            PoolMachine(
                limits: PoolMachine.Limits(
                    maximumConnections: maximumConnections, maximumWaiting: maximumWaiting, keepAlive: .seconds(60),
                    connectTimeout: .seconds(10)),
                mayShare: mayShare))
    }

    private func at(_ seconds: UInt64) -> NIODeadline { .uptimeNanoseconds(seconds * 1_000_000_000) }

    @Test func firstRequestMakesAndUsesAConnection() {
        let machine = machine()
        #expect(machine.submit(1, now: at(0)) == .wait([.connect(1)]))
        #expect(machine.connected(1, .exclusive, now: at(1)) == [.send(1, on: 1, isReused: false)])
        #expect(machine.ended(1, now: at(2)) == [])
        #expect(machine.submit(2, now: at(0)) == .send(on: 1, isReused: true))
    }

    @Test func exclusiveConnectionsAreMadeUpToTheLimit() {
        let machine = machine()
        #expect(machine.submit(1, now: at(0)) == .wait([.connect(1)]))
        #expect(machine.submit(2, now: at(0)) == .wait([.connect(2)]))
        #expect(machine.submit(3, now: at(0)) == .wait([]))
        #expect(machine.connected(2, .exclusive, now: at(1)) == [.send(1, on: 2, isReused: false)])
        #expect(machine.ended(2, now: at(1)) == [.send(2, on: 2, isReused: true)])
        #expect(machine.connected(1, .exclusive, now: at(1)) == [.send(3, on: 1, isReused: false)])
    }

    @Test func drainingConnectionsAreBoundedSeparately() {
        let machine = machine()
        for request in 1...2 { _ = machine.submit(RequestID(request), now: at(0)) }
        _ = machine.connected(1, .exclusive, now: at(1))
        _ = machine.connected(2, .exclusive, now: at(1))
        #expect(machine.drainAll() == [])
        #expect(machine.submit(3, now: at(2)) == .wait([.connect(3)]))
        #expect(machine.submit(4, now: at(2)) == .wait([.connect(4)]))
        #expect(machine.submit(5, now: at(2)) == .wait([]), "two are in use beside the two that end")
        _ = machine.connected(3, .exclusive, now: at(3))
        _ = machine.connected(4, .exclusive, now: at(3))
        #expect(machine.drainAll() == [])
        #expect(machine.submit(6, now: at(4)) == .wait([]), "never more than twice as many")
        #expect(machine.ended(1, now: at(5)) == [.close(1), .connect(5)])
    }

    @Test func unknownProtocolMakesOnlyOneConnection() {
        let machine = machine(maximumConnections: 8, mayShare: true)
        #expect(machine.submit(1, now: at(0)) == .wait([.connect(1)]))
        #expect(machine.submit(2, now: at(0)) == .wait([]))
        #expect(machine.submit(3, now: at(0)) == .wait([]))
        #expect(
            machine.connected(1, .exclusive, now: at(1)) == [
                .send(1, on: 1, isReused: false), .connect(2), .connect(3),
            ])
    }

    @Test func sharedConnectionRespectsTheServersLimit() {
        let machine = machine(mayShare: true)
        for request in 1...4 { _ = machine.submit(RequestID(request), now: at(0)) }
        #expect(
            machine.connected(1, .shared(limit: 2), now: at(1)) == [
                .send(1, on: 1, isReused: false), .send(2, on: 1, isReused: false),
            ])
        #expect(machine.ended(1, now: at(1)) == [.send(3, on: 1, isReused: true)])
        #expect(machine.limitChanged(1, to: 3, now: at(1)) == [.send(4, on: 1, isReused: true)])
        #expect(machine.submit(5, now: at(0)) == .wait([]))
    }

    @Test func shrunkLimitHoldsBackFurtherStreams() {
        let machine = machine(mayShare: true)
        for request in 1...3 { _ = machine.submit(RequestID(request), now: at(0)) }
        _ = machine.connected(1, .shared(limit: 100), now: at(1))
        #expect(machine.limitChanged(1, to: 1, now: at(1)) == [])
        #expect(machine.submit(4, now: at(0)) == .wait([]))
        #expect(machine.ended(1, now: at(2)) == [])
        #expect(machine.ended(1, now: at(2)) == [])
        #expect(machine.ended(1, now: at(2)) == [.send(4, on: 1, isReused: true)])
    }

    @Test func drainingConnectionClosesWhenEmpty() {
        let machine = machine(mayShare: true)
        _ = machine.submit(1, now: at(0))
        _ = machine.connected(1, .shared(limit: 10), now: at(1))
        #expect(machine.drain(1) == [])
        #expect(machine.submit(2, now: at(0)) == .wait([.connect(2)]))
        #expect(machine.ended(1, now: at(1)) == [.close(1)])
        #expect(machine.connected(2, .shared(limit: 10), now: at(1)) == [.send(2, on: 2, isReused: false)])
    }

    @Test func requestThatWasRefusedComesFirstOnAnother() {
        let machine = machine(maximumConnections: 1)
        _ = machine.submit(1, now: at(0))
        _ = machine.connected(1, .exclusive, now: at(1))
        #expect(machine.submit(2, now: at(0)) == .wait([]))
        #expect(machine.closed(1) == [.connect(2)])
        #expect(machine.lost(1, .unprocessed) == .wait([]))
        #expect(machine.connected(2, .exclusive, now: at(2)) == [.send(1, on: 2, isReused: false)])
    }

    /// A machine with four connections, of which the last carries request 5 since the tenth second and the others carry nothing.
    private func machineWithIdleConnections() -> MachineUnderTest {
        let machine = machine(maximumConnections: 4)
        for request in 1...4 { _ = machine.submit(RequestID(request), now: at(0)) }
        for connection in 1...4 { _ = machine.connected(connection, .exclusive, now: at(1)) }
        for connection in 1...4 { _ = machine.ended(connection, now: at(1 + UInt64(connection))) }
        #expect(machine.submit(5, now: at(10)) == .send(on: 4, isReused: true))
        return machine
    }

    @Test func staleConnectionsAreReplacedTogether() {
        let machine = machineWithIdleConnections()
        #expect(machine.closed(4) == [])
        #expect(machine.retireIdle(since: at(10)) == [.close(1), .close(2), .close(3)])
        #expect(machine.lost(5, .stale, now: at(11)) == .wait([.connect(5)]))
        #expect(machine.connected(5, .exclusive, now: at(12)) == [.send(5, on: 5, isReused: false)])
    }

    @Test func staleConnectionsRequestNeedsAFreshOne() {
        let machine = machineWithIdleConnections()
        #expect(machine.submit(6, now: at(10)) == .send(on: 3, isReused: true))
        #expect(machine.closed(4) == [])
        #expect(machine.retireIdle(since: at(10)) == [.close(1), .close(2)])
        #expect(machine.lost(5, .stale, now: at(11)) == .wait([.connect(5)]))
        // One that has just shown that it lives serves others.
        #expect(machine.ended(3, now: at(12)) == [])
        #expect(machine.submit(7, now: at(20)) == .send(on: 3, isReused: true))
        #expect(machine.submit(8, now: at(20)) == .wait([.connect(6)]))
        #expect(machine.ended(3, now: at(13)) == [.send(8, on: 3, isReused: true)])
        #expect(machine.connected(5, .exclusive, now: at(14)) == [.send(5, on: 5, isReused: false)])
    }

    @Test func unusableConnectionMakesRoomForAnother() {
        let machine = machine(maximumConnections: 1)
        _ = machine.submit(1, now: at(0))
        _ = machine.connected(1, .exclusive, now: at(1))
        #expect(machine.lost(1, .stale, now: at(2)) == .wait([]))
        #expect(machine.ended(1, now: at(2)) == [.close(1), .connect(2)])
        #expect(machine.connected(2, .exclusive, now: at(3)) == [.send(1, on: 2, isReused: false)])
    }

    @Test(arguments: [
        (LostRequest.unprocessed, true),
        (.unprocessed.with { $0.isReplayable = false }, false),
        (.unprocessed.with { $0.isIdempotent = false }, true),
        (.unprocessed.with { $0.moves = LostRequest.maximumMoves }, false),
        (.stale, true),
        (.stale.with { $0.isIdempotent = false }, false),
        (.stale.with { $0.wasReused = false }, false),
        (.stale.with { $0.hasResponse = true }, false),
        (.stale.with { $0.isReplayable = false }, false),
        (.stale.with { $0.moves = 1 }, false),
    ])
    func onlyUnsafeRequestsStay(loss: LostRequest, mayMove: Bool) {
        #expect(loss.mayMove == mayMove)
    }

    @Test func lastFailedConnectionFailsTheWaitingRequests() {
        let machine = machine()
        for request in 1...3 { _ = machine.submit(RequestID(request), now: at(0)) }
        #expect(machine.connectFailed(1) == [])
        #expect(
            machine.connectFailed(2) == [
                .fail(1, .notConnected), .fail(2, .notConnected), .fail(3, .notConnected),
            ])
        #expect(machine.isEmpty)
    }

    @Test func failedDialIsHarmlessWhileAnotherConnectionWorks() {
        let machine = machine()
        _ = machine.submit(1, now: at(0))
        _ = machine.connected(1, .exclusive, now: at(1))
        #expect(machine.submit(2, now: at(0)) == .wait([.connect(2)]))
        #expect(machine.connectFailed(2) == [])
        #expect(machine.ended(1, now: at(2)) == [.send(2, on: 1, isReused: true)])
    }

    @Test func noMoreWaitThanMay() {
        let machine = machine(maximumWaiting: 2)
        _ = machine.submit(1, now: at(0))
        _ = machine.submit(2, now: at(0))
        #expect(machine.submit(3, now: at(0)) == .refuse(.tooManyWaiting))
        machine.withdraw(1)
        #expect(machine.submit(4, now: at(0)) == .wait([]))
    }

    @Test func waitForANewConnectionEndsInTime() {
        let machine = machine(maximumConnections: 1)
        _ = machine.submit(1, now: at(0))
        #expect(machine.nextDeadline == at(10))
        #expect(machine.timePassed(at(9)) == [])
        #expect(machine.timePassed(at(10)) == [.fail(1, .notConnectedInTime)])
    }

    @Test func requestWaitsForAConnectionWithoutLimit() {
        let machine = machine(maximumConnections: 1)
        _ = machine.submit(1, now: at(0))
        _ = machine.connected(1, .exclusive, now: at(1))
        #expect(machine.submit(2, now: at(1)) == .wait([]))
        #expect(machine.nextDeadline == nil)
        #expect(machine.timePassed(at(500)) == [])
        // When the place is free but its connection is gone, the time to connect begins.
        #expect(machine.closed(1, now: at(500)) == [.connect(2)])
        #expect(machine.nextDeadline == at(510))
        #expect(machine.timePassed(at(509)) == [])
        #expect(machine.timePassed(at(510)) == [.fail(2, .notConnectedInTime)])
    }

    @Test func requestDecidesHowLongAStreamIsAwaited() {
        let machine = machine(mayShare: true)
        _ = machine.submit(1, now: at(0))
        _ = machine.connected(1, .shared(limit: 1), now: at(1))
        #expect(machine.submit(2, now: at(1)) == .wait([]))
        #expect(machine.timePassed(at(500)) == [])
        #expect(machine.ended(1, now: at(501)) == [.send(2, on: 1, isReused: true)])
    }

    @Test func failedDialIsRepeatedAfterGrowingPauses() {
        let machine = machine(maximumConnections: 8)
        _ = machine.submit(1, now: at(0))
        _ = machine.connected(1, .exclusive, now: at(0))
        #expect(machine.submit(2, now: at(0)) == .wait([.connect(2)]))
        #expect(machine.submit(3, now: at(0)) == .wait([.connect(3)]))
        #expect(machine.connectFailed(2, now: at(0)) == [])
        #expect(machine.connectFailed(3, now: at(0)) == [])
        var (dial, pauses, now) = (4, [TimeAmount](), at(0))
        while let next = machine.nextDeadline, next < at(10) {
            pauses.append(next - now)
            now = next
            // One at a time, though two wait.
            #expect(machine.timePassed(now) == [.connect(dial)])
            #expect(machine.connectFailed(dial, now: now) == [])
            dial += 1
        }
        #expect(pauses == [200, 400, 800, 1600, 3200, 3200].map { .milliseconds($0) })
        // Then they fail, while the long exchange goes on.
        #expect(machine.nextDeadline == at(10))
        #expect(machine.timePassed(at(10)) == [.fail(2, .notConnected), .fail(3, .notConnected)])
        #expect(machine.connections.map(\.inUse) == [1])
    }

    @Test func unusedConnectionIsClosedAfterItsTime() {
        let machine = machine()
        _ = machine.submit(1, now: at(0))
        _ = machine.connected(1, .exclusive, now: at(1))
        #expect(machine.nextDeadline == nil)
        _ = machine.ended(1, now: at(5))
        #expect(machine.nextDeadline == at(65))
        #expect(machine.timePassed(at(64)) == [])
        #expect(machine.timePassed(at(65)) == [.close(1)])
        #expect(machine.isEmpty)
    }

    @Test func connectionUsedLastIsUsedFirst() {
        let machine = machine()
        for request in 1...2 { _ = machine.submit(RequestID(request), now: at(0)) }
        _ = machine.connected(1, .exclusive, now: at(1))
        _ = machine.connected(2, .exclusive, now: at(1))
        _ = machine.ended(2, now: at(3))
        _ = machine.ended(1, now: at(2))
        #expect(machine.submit(3, now: at(0)) == .send(on: 2, isReused: true))
    }

    @Test func warmingMakesOneConnectionWhereThereIsNone() {
        let machine = machine(mayShare: true)
        #expect(machine.warm() == [.connect(1)])
        #expect(machine.warm() == [])
        #expect(machine.submit(1, now: at(0)) == .wait([]))
        #expect(machine.connected(1, .shared(limit: 9), now: at(1)) == [.send(1, on: 1, isReused: false)])
        #expect(machine.warm() == [])
    }

    @Test func changedNetworkRetiresAllConnections() {
        let machine = machine(maximumConnections: 3)
        for request in 1...3 { _ = machine.submit(RequestID(request), now: at(0)) }
        _ = machine.connected(1, .exclusive, now: at(1))
        _ = machine.connected(2, .exclusive, now: at(1))
        machine.withdraw(3)
        _ = machine.ended(2, now: at(1))
        #expect(machine.drainAll() == [.close(2)])
        #expect(machine.connected(3, .exclusive, now: at(2)) == [.close(3)])
        #expect(machine.ended(1, now: at(3)) == [.close(1)])
    }

    @Test func shutdownEndsEveryWaitAndForgetsEveryConnection() {
        let machine = machine(maximumConnections: 1)
        _ = machine.submit(1, now: at(0))
        _ = machine.connected(1, .exclusive, now: at(1))
        _ = machine.submit(2, now: at(0))
        #expect(machine.shutDown() == [.fail(2, .shutDown), .close(1)])
        #expect(machine.submit(3, now: at(0)) == .refuse(.shutDown))
        #expect(machine.warm() == [])
        #expect(machine.isEmpty)
        #expect(machine.nextDeadline == nil)
    }
}

/// A machine that can be asked within an expectation, which takes no value that changes.
private final class MachineUnderTest {
    private var machine: PoolMachine

    init(_ machine: PoolMachine) { self.machine = machine }

    var isEmpty: Bool { machine.connections.isEmpty && machine.waiting.isEmpty }
    var connections: [PoolMachine.Connection] { machine.connections }
    var nextDeadline: NIODeadline? { machine.nextDeadline }

    func submit(_ request: RequestID, now: NIODeadline) -> PoolSubmission { machine.submit(request, now: now) }
    func lost(_ request: RequestID, _ loss: LostRequest, now: NIODeadline = .uptimeNanoseconds(0)) -> PoolSubmission {
        machine.lost(request, loss, now: now)
    }
    func retireIdle(since instant: NIODeadline) -> [PoolAction] { machine.retireIdle(since: instant, now: instant) }
    func withdraw(_ request: RequestID) { machine.withdraw(request) }
    func ended(_ connection: ConnectionID, now: NIODeadline) -> [PoolAction] {
        machine.ended(connection, now: now)
    }
    func warm() -> [PoolAction] { machine.warm() }
    func connected(_ connection: ConnectionID, _ sharing: ConnectionSharing, now: NIODeadline) -> [PoolAction] {
        machine.connected(connection, sharing, now: now)
    }
    func connectFailed(_ connection: ConnectionID, now: NIODeadline = .uptimeNanoseconds(0)) -> [PoolAction] {
        machine.connectFailed(connection, now: now)
    }
    func closed(_ connection: ConnectionID, now: NIODeadline = .uptimeNanoseconds(0)) -> [PoolAction] {
        machine.closed(connection, now: now)
    }
    func limitChanged(_ connection: ConnectionID, to limit: Int, now: NIODeadline) -> [PoolAction] {
        machine.limitChanged(connection, to: limit, now: now)
    }
    func drain(_ connection: ConnectionID, now: NIODeadline = .uptimeNanoseconds(0)) -> [PoolAction] {
        machine.drain([connection], now: now)
    }
    func drainAll(now: NIODeadline = .uptimeNanoseconds(0)) -> [PoolAction] { machine.drainAll(now: now) }
    func timePassed(_ now: NIODeadline) -> [PoolAction] { machine.timePassed(now) }
    func shutDown() -> [PoolAction] { machine.shutDown() }
}

extension LostRequest {
    /// One that the server said it did not act on.
    static var unprocessed: LostRequest {
        LostRequest(
            isUnprocessed: true, wasReused: false, hasResponse: false, isIdempotent: true, isReplayable: true, moves: 0,
            begun: .uptimeNanoseconds(0))
    }

    /// One that met a connection which the server was just closing.
    static var stale: LostRequest { unprocessed.with { ($0.isUnprocessed, $0.wasReused) = (false, true) } }

    func with(_ change: (inout LostRequest) -> Void) -> LostRequest {
        var copy = self
        change(&copy)
        return copy
    }
}
