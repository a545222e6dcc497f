import RunwayTesting
import Testing

@testable import Runway

/// Which calls can be made again, without making any.
@MainActor
struct ResumableCallsTests {
    private let network = NetworkLayer(transport: StubTransport { _ in .json("{}") }, pipeline: .tested)

    private func owner(_ account: String) -> TokenIdentity {
        TokenIdentity(service: Club.self, environment: .release, account: account)
    }

    private func call(_ number: UInt64, _ account: String, by manager: any APIManaging) -> ResumableCalls.Call {
        ResumableCalls.Call(
            flight: FlightID(number: number), owner: owner(account), cause: .needsLogin,
            manager: WeakManager(manager: manager)
        ) { nil }
    }

    /// Plays random events to the table and to a list that forgets nothing by itself.
    @Test func tableDoesWhatAPlainListWould() throws {
        for seed in Seeds.some(300) {
            var random = SeededGenerator(seed: seed)
            let maximumCount = Int.random(in: 0...4, using: &random)
            let lifetime = Duration.seconds(Int.random(in: 1...6, using: &random))
            var table = ResumableCalls(maximumCount: maximumCount, lifetime: lifetime)
            let managers = (0..<2).map { _ in APIManager<Members>(on: network) }
            let accounts = ["ann", "ben"]
            var model: [(number: UInt64, manager: Int, account: String, end: Duration)] = []
            var now = Duration.zero
            for number in 1...UInt64(40) {
                now += .seconds(Int.random(in: 0...2, using: &random))
                let manager = Int.random(in: 0...1, using: &random)
                let account = accounts[Int.random(in: 0...1, using: &random)]
                switch Int.random(in: 0..<6, using: &random) {
                case 0...3:
                    let isAwaited = table.add(call(number, account, by: managers[manager]), at: now)
                    try #require(!isAwaited, "seed \(seed)")
                    model.removeAll { $0.end <= now }
                    model.append((number, manager, account, now + lifetime))
                    model = Array(model.suffix(maximumCount))
                case 4:
                    table.remove(nil, of: managers[manager])
                    model.removeAll { $0.manager == manager }
                default:
                    let taken = table.take(at: now) { $0.owner == owner(account) }
                    let expected = model.filter { $0.account == account && $0.end > now }.map(\.number)
                    try #require(taken.map(\.flight.number) == expected, "seed \(seed)")
                    model.removeAll { $0.account == account || $0.end <= now }
                }
                try #require(table.count == model.count, "seed \(seed)")
            }
        }
    }

    @Test func callResumedBeforeItsFailureIsRepeatedOnce() {
        var table = ResumableCalls(maximumCount: 10, lifetime: .seconds(1))
        let manager = APIManager<Members>(on: network)
        let taken = table.take(awaiting: [FlightID(number: 7)], at: .zero) { _ in true }
        let again = (0..<2).map { _ in table.add(call(7, "ann", by: manager), at: .zero) }
        #expect(taken.isEmpty && again == [true, false] && table.count == 1)
    }

    @Test func resumingAnotherServiceLeavesAwaitedCalls() {
        var table = ResumableCalls(maximumCount: 10, lifetime: .seconds(1))
        let manager = APIManager<Members>(on: network)
        _ = table.take(awaiting: [FlightID(number: 7)], at: .zero) { _ in true }
        _ = table.take(at: .zero) { _ in false }
        _ = table.take(awaiting: [FlightID(number: 8)], at: .zero) { _ in false }
        let again = [7, 8].map { table.add(call($0, "ann", by: manager), at: .zero) }
        #expect(again == [true, true] && table.count == 0)
    }

    @Test func awaitedCallsAreBounded() {
        var table = ResumableCalls(maximumCount: 3, lifetime: .seconds(1))
        let manager = APIManager<Members>(on: network)
        for first in [1, 2, 3] as [UInt64] {
            _ = table.take(awaiting: [first, first + 1, first + 2].map { FlightID(number: $0) }, at: .zero) { _ in true
            }
        }
        let again = (1...5).map { table.add(call($0, "ann", by: manager), at: .zero) }
        #expect(again == [false, false, true, true, true])
    }

    @Test func oneCallOfAManagerIsRemovedAlone() {
        var table = ResumableCalls(maximumCount: 10, lifetime: .seconds(1))
        let (manager, other) = (APIManager<Members>(on: network), APIManager<Members>(on: network))
        for number in 1...2 as ClosedRange<UInt64> { _ = table.add(call(number, "ann", by: manager), at: .zero) }
        table.remove(FlightID(number: 1), of: other)
        #expect(table.count == 2)
        table.remove(FlightID(number: 1), of: manager)
        let left = table.take(at: .zero) { _ in true }.map(\.flight.number)
        #expect(left == [2])
    }
}
