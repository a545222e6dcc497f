import RunwayMediator
import Testing

/// Links before there is a window, and several windows.
@MainActor struct WindowTests {
    private let session = Session()
    private let mediator: Mediator
    private let first = RecordingShell()
    private let second = RecordingShell()

    init() {
        let signedIn = Guard("signedIn", redirectingTo: AccountPage.signIn) { [session] in session.isSignedIn }
        mediator = Mediator(fallback: .web("https://m.example.com")) {
            GuardedModule(guards: [signedIn])
            OrdersModule()
            AccountModule()
        }
    }

    @Test func linksWaitForTheFirstWindow() {
        #expect(mediator.open("app://orders/order?id=7") == .waiting)
        mediator.shell = first
        #expect(first.pages as? [OrdersPage] == [.order(id: 7, tab: nil)])
        mediator.shell = nil
        mediator.shell = second
        #expect(second.pages.isEmpty)
    }

    @Test func onlyTheNewestLinkWaits() {
        mediator.open("app://orders/order?id=7")
        #expect(mediator.open("app://orders/unknown") == .waiting)
        mediator.shell = first
        #expect(first.pages.isEmpty && first.webAddresses == ["https://m.example.com/orders/unknown"])
    }

    @Test func refusedLinksDoNotWait() {
        mediator.open("app://orders/list")
        for address in ["app://orders/pay?id=7", "app://orders/order?id=07", "https://evil.example/orders/list"] {
            #expect(mediator.open(address) != .waiting)
        }
        mediator.shell = first
        #expect(first.pages as? [OrdersPage] == [.list])
    }

    @Test func webViewsWithoutWindowDoNotWait() {
        #expect(mediator.open("app://orders/list", from: .pages) != .waiting)
        mediator.shell = first
        #expect(first.pages.isEmpty)
    }

    @Test func waitingLinksPassTheirGuards() {
        mediator.open("app://guarded/first")
        mediator.shell = first
        #expect(first.shown.last?.screen.content(as: SignIn.self) != nil && first.shown.count == 1)
    }

    @Test func pagesOpenInTheWindowThatAsks() {
        mediator.shell = first
        mediator.open(OrdersPage.list, in: second)
        mediator.open("app://orders/list", in: second)
        mediator.open("app://unknown/page", in: second)
        #expect(second.shown.count == 2 && second.webAddresses.count == 1)
        #expect(first.shown.isEmpty && first.webAddresses.isEmpty)
    }

    @Test func resultsCloseThePageInItsWindow() async throws {
        mediator.shell = first
        second.onShow = { [mediator, first] shown in
            mediator.shell = first
            shown.screen.content(as: AddressPicker.self)?.reply.finish(Address())
        }
        mediator.open(OrdersPage.list)
        _ = try await mediator.result(of: AccountPage.pickAddress, in: second)
        #expect(second.shown.isEmpty && first.shown.count == 1)
    }

    @Test func signInContinuesInItsWindow() async {
        mediator.shell = first
        mediator.open("app://guarded/second", in: second)
        let (continued, reports) = AsyncStream.makeStream(of: Void.self)
        for shell in [first, second] { shell.onShow = { _ in reports.yield() } }
        session.isSignedIn = true
        second.shown.last?.screen.content(as: SignIn.self)?.reply.finish()
        for await _ in continued { break }
        #expect(second.pages as? [GuardedPage] == [.second] && first.shown.isEmpty)
    }
}
