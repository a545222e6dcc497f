import RunwayTesting
import Testing

@testable import Runway

/// The machine of a paged manager's load alone, without requests.
struct PagedLoadMachineTests {
    private static let network = NetworkLayer(transport: StubTransport { _ in .json("{}") }, pipeline: .tested)
    private typealias Machine = PagedLoadMachine<OffsetList>

    private let pages = CursorLoad(.first, of: PageWindow(), size: 5, PagingLimits())

    private func id() -> FlightID { Self.network.makeFlight(Work.self, .standard).id }

    @Test func loadOfTwoRequestsHasTheFirstsNumber() {
        var machine = Machine()
        let (first, second) = (id(), id())
        let load = machine.start(.first, OffsetList(), .standard, pages)
        var accepted = [machine.requested(first, for: load.number)]
        _ = machine.landed(first)
        _ = machine.continueLoad(load.number, pages)
        accepted.append(machine.requested(second, for: load.number))
        #expect(accepted == [true, true] && machine.load?.id == first)
    }

    @Test func replacedLoadTakesNoRequestAndNoPage() {
        var machine = Machine()
        let (first, second) = (id(), id())
        let old = machine.start(.first, OffsetList(), .standard, pages)
        machine.cancel()
        let new = machine.start(.first, OffsetList(), .standard, pages)
        let isAccepted = machine.requested(first, for: old.number)
        _ = machine.requested(second, for: new.number)
        _ = machine.landed(second)
        let next = machine.continueLoad(old.number, pages)
        let isFinished = machine.finish(old.number)
        #expect(!isAccepted && next == nil && !isFinished && machine.load?.number == new.number)
    }

    @Test func onlyTheAwaitedRequestIsRead() {
        var machine = Machine()
        let (first, other) = (id(), id())
        let load = machine.start(.first, OffsetList(), .standard, pages)
        _ = machine.requested(first, for: load.number)
        let landings = [machine.landed(other), machine.landed(first), machine.landed(first)].map { landing in
            if case .read(let read) = landing { read.number } else { 0 }
        }
        #expect(landings == [0, load.number, 0])
    }

    @Test func vetoedRequestEndsItsLoad() {
        var machine = Machine()
        let (first, other) = (id(), id())
        let load = machine.start(.first, OffsetList(), .standard, pages)
        _ = machine.requested(first, for: load.number)
        let none = machine.ended(other)
        #expect(none == nil && machine.load != nil)
        let ended = machine.ended(first)
        #expect(ended == first && machine.load == nil)
    }

    @Test func loadInFlightContinuesUntilTheNextBegins() {
        var machine = Machine()
        let (first, second) = (id(), id())
        let old = machine.start(.first, OffsetList(), .standard, pages)
        _ = machine.begin(old, as: first, nil, under: .joinOrReplace)
        let new = machine.start(.first, OffsetList(), .standard, pages)
        #expect(machine.load?.number == old.number)
        let overlap = machine.begin(new, as: second, nil, under: .joinOrReplace)
        #expect(overlap == .start && machine.load?.number == new.number && machine.load?.id == second)
        let late = machine.landed(first)
        if case .ignore = late {} else { Issue.record("the request of a replaced load is not read") }
    }

    @Test func loadJoinedByAPullGoesPastCircuits() throws {
        var machine = Machine()
        let flights = (0..<2).map { _ in Self.network.makeFlight(OffsetList.self, .standard) }
        let identities = try flights.map { flight in
            CallIdentity(try CallContent(of: OffsetList(), in: flight), in: flight)
        }
        let load = machine.start(.first, OffsetList(), .standard, pages)
        _ = machine.begin(load, as: flights[0].id, identities[0], under: .joinOrReplace)
        #expect(machine.request == flights[0].id)
        _ = machine.landed(flights[0].id)
        let pull = machine.start(.first, OffsetList(), CallOptions(bypassesCircuit: true), pages)
        let overlap = machine.begin(pull, as: flights[1].id, identities[1], under: .joinOrReplace)
        let next = machine.continueLoad(load.number, pages)
        #expect(overlap == .join(flights[0].id) && next?.options.bypassesCircuit == true)
    }

    @Test(arguments: [OverlapPolicy.joinOrReplace, .ignoreNew, .cancelRunning, .concurrent])
    func loadMadeByAHookIsTheNewer(policy: OverlapPolicy) {
        var machine = Machine()
        let (first, second) = (id(), id())
        let outer = machine.start(.first, OffsetList(), .standard, pages)
        let inner = machine.start(.first, OffsetList(), .standard, pages)
        let overlaps = [
            machine.begin(inner, as: first, nil, under: policy), machine.begin(outer, as: second, nil, under: policy),
        ]
        #expect(overlaps == [.start, .ignore(first)] && machine.load?.number == inner.number)
    }

    @Test func unstartableLoadLeavesTheOneInFlight() {
        var machine = Machine()
        let (first, other) = (id(), id())
        let load = machine.start(.first, OffsetList(), .standard, pages)
        _ = machine.begin(load, as: first, nil, under: .ignoreNew)
        machine.refuse(other)
        #expect(machine.isPending(first) && machine.isPending(other) && machine.load?.id == first)
        let landing = machine.landed(other)
        if case .refuse = landing {} else { Issue.record("a load that could not start fails") }
        #expect(!machine.isPending(other) && machine.load?.id == first)
    }

    @Test func loadWithoutParametersFailsOnce() {
        var machine = Machine()
        let request = id()
        machine.refuse(request)
        #expect(machine.load == nil)
        let landings = [machine.landed(request), machine.landed(request)].map { landing in
            if case .refuse = landing { true } else { false }
        }
        #expect(landings == [true, false])
    }
}
