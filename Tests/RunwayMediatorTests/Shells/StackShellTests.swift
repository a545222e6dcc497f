import Testing

@testable import RunwayMediator

@MainActor struct StackShellTests {
    private let mediator = Mediator(fallback: .web("https://m.example.com")) {
        OrdersModule()
        AccountModule()
    }
    private let shell: StackShell

    init() {
        shell = StackShell(mediator: mediator) { Screen($0) }
        mediator.shell = shell
    }

    /// The presentations and the numbers of screens of all stacks.
    private var stacks: [String] { shell.layers.all.map { "\($0.presentation.name) \($0.entries.count)" } }

    /// Waits for an address, performs an action when its screen is shown, and returns the end.
    private func pick(
        as presentation: Presentation, then action: @escaping @MainActor () -> Void
    ) async -> MediatorError.Kind? {
        let task = Task { try await mediator.result(of: AccountPage.pickAddress, as: presentation) }
        // The task runs on the main actor, too, and shows the screen before it waits.
        let next = Task {}
        await next.value
        action()
        do {
            _ = try await task.value
            return nil
        } catch { return (error as? MediatorError)?.kind }
    }

    @Test func screensAreShownInStacks() {
        for (page, presentation) in [(1, nil), (2, Presentation.sheet), (3, nil), (4, .cover), (5, Presentation("x"))] {
            mediator.open(OrdersPage.order(id: page, tab: nil), as: presentation)
        }
        #expect(stacks == ["push 1", "sheet 2", "cover 2"])
        let last = shell.layers.all.last?.entries.last?.screen.content(as: OrderDetails.self)
        #expect(last?.id == 5)
    }

    @Test func goingBackEndsTheWait() async {
        mediator.open(OrdersPage.list)
        let kind = await pick(as: .push) { [shell] in
            shell.setPath(Array(shell.layers.all[0].entries.dropLast()), of: nil)
        }
        #expect(kind == .closed && stacks == ["push 1"])
    }

    @Test func swipingASheetEndsTheWait() async {
        let kind = await pick(as: .sheet) { [shell, mediator] in
            mediator.open(OrdersPage.list)
            shell.dismiss(shell.layers.all.last?.id)
        }
        #expect(kind == .closed && stacks == ["push 0"])
    }

    @Test func goingBackClosesWhatIsAbove() async {
        mediator.open(OrdersPage.list)
        let kind = await pick(as: .cover) { [shell] in shell.setPath([], of: nil) }
        #expect(kind == .closed && stacks == ["push 0"])
    }

    @Test func finishedPagesCloseWithThoseAbove() async {
        mediator.open(OrdersPage.list)
        let kind = await pick(as: .push) { [shell, mediator] in
            mediator.open(OrdersPage.list)
            mediator.open(OrdersPage.pay(id: 1))
            shell.layers.all[0].entries[1].screen.content(as: AddressPicker.self)?.reply.finish(Address())
        }
        #expect(kind == nil && stacks == ["push 1"])
    }

    @Test func newRootsEndAllWaits() async {
        let kind = await pick(as: .sheet) { [mediator] in mediator.open(OrdersPage.list, as: .root) }
        #expect(kind == .closed && stacks == ["root 1"])
        // The root is no part of the path.
        shell.setPath([], of: nil)
        #expect(stacks == ["root 1"])
        mediator.open(OrdersPage.list)
        shell.setPath([], of: nil)
        #expect(stacks == ["root 1"])
    }

    @Test func closedRootsReturnToTheFirst() async {
        let kind = await pick(as: .root) { [shell] in
            shell.layers.all[0].entries[0].screen.content(as: AddressPicker.self)?.reply.finish(Address())
        }
        #expect(kind == nil && stacks == ["push 0"])
    }

    @Test func webPagesArePushed() {
        mediator.open("app://unknown/page")
        mediator.open("app://unknown/other")
        #expect(stacks == ["push 2"] && Set(shell.layers.all[0].entries.map(\.id)).count == 2)
        let first = shell.layers.all[0].entries.first?.screen.content(as: String.self)
        #expect(first == "https://m.example.com/unknown/page")
        shell.setPath([], of: nil)
        #expect(stacks == ["push 0"])
    }

    @Test func closedStacksAreClosedOnce() {
        mediator.open(OrdersPage.list, as: .sheet)
        let id = shell.layers.all.last?.id
        shell.dismiss(id)
        mediator.open(OrdersPage.list)
        shell.dismiss(id)
        shell.setPath([], of: id)
        #expect(stacks == ["push 1"])
    }
}
