import RunwayTesting
import Testing

@testable import Runway

/// The machine of a paged manager's load alone, without requests.
struct PagedLoadMachineTests {
    private static let network = NetworkLayer(transport: StubTransport { _ in .json("{}") })
    private typealias Machine = PagedLoadMachine<OffsetList>

    private let pages = CursorLoad(.first, of: PageWindow(), size: 5, PagingLimits())

    private func id() -> FlightID { Self.network.makeFlight(Work.self, .standard).id }

    @Test func loadOfTwoRequestsHasTheNumberOfTheFirst() {
        var machine = Machine()
        let (first, second) = (id(), id())
        let load = machine.start(OffsetList(), .standard, pages)
        var accepted = [machine.requested(first, for: load.number)]
        _ = machine.landed(first)
        _ = machine.goOn(load.number, pages)
        accepted.append(machine.requested(second, for: load.number))
        #expect(accepted == [true, true] && machine.load?.id == first)
    }

    @Test func replacedLoadTakesNoRequestAndNoPage() {
        var machine = Machine()
        let (first, second) = (id(), id())
        let old = machine.start(OffsetList(), .standard, pages)
        machine.cancel()
        let new = machine.start(OffsetList(), .standard, pages)
        let isAccepted = machine.requested(first, for: old.number)
        _ = machine.requested(second, for: new.number)
        _ = machine.landed(second)
        let next = machine.goOn(old.number, pages)
        let isFinished = machine.finish(old.number)
        #expect(!isAccepted && next == nil && !isFinished && machine.load?.number == new.number)
    }

    @Test func onlyTheRequestThatIsWaitedForIsRead() {
        var machine = Machine()
        let (first, other) = (id(), id())
        let load = machine.start(OffsetList(), .standard, pages)
        _ = machine.requested(first, for: load.number)
        let landings = [machine.landed(other), machine.landed(first), machine.landed(first)].map { landing in
            if case .read(let read) = landing { read.number } else { 0 }
        }
        #expect(landings == [0, load.number, 0])
    }

    @Test func vetoedRequestEndsItsLoad() {
        var machine = Machine()
        let (first, other) = (id(), id())
        let load = machine.start(OffsetList(), .standard, pages)
        _ = machine.requested(first, for: load.number)
        machine.ended(other)
        #expect(machine.load != nil)
        machine.ended(first)
        #expect(machine.load == nil)
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
