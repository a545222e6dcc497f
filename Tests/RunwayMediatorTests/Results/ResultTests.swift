import RunwayMediator
import Testing

@MainActor struct ResultTests {
    private let mediator: Mediator
    private let shell: RecordingShell

    init() { (mediator, shell) = Mediator.example() }

    private func failure(_ operation: () async throws -> Void) async -> MediatorError.Kind? {
        do {
            try await operation()
            return nil
        } catch { return (error as? MediatorError)?.kind }
    }

    @Test func resultsCloseTheirPage() async throws {
        mediator.open(OrdersPage.list)
        shell.onShow = { $0.screen.content(as: AddressPicker.self)?.reply.finish(Address(street: "Oak")) }
        let address = try await mediator.result(of: AccountPage.pickAddress, as: .cover)
        #expect(address.street == "Oak")
        #expect(shell.pages as? [OrdersPage] == [.list])
    }

    @Test func onlyTheFirstResultCounts() async throws {
        var finished: [Bool] = []
        shell.onShow = { shown in
            let reply = shown.screen.content(as: AddressPicker.self)?.reply
            finished = ["a", "b"].map { reply?.finish(Address(street: $0)) ?? false }
        }
        #expect(try await mediator.result(of: AccountPage.pickAddress).street == "a")
        #expect(finished == [true, false])
    }

    @Test func closedPagesEndTheWait() async {
        shell.onShow = { [mediator, shell] _ in shell.dismissLast(in: mediator) }
        let kind = await failure { _ = try await mediator.result(of: AccountPage.pickAddress) }
        #expect(kind == .closed && shell.shown.isEmpty)
    }

    @Test func cancellingClosesThePage() async {
        let (shown, reports) = AsyncStream.makeStream(of: Void.self)
        shell.onShow = { _ in reports.yield() }
        let task = Task { try await mediator.result(of: AccountPage.pickAddress) }
        for await _ in shown { break }
        #expect(shell.shown.count == 1)
        task.cancel()
        #expect(await failure { _ = try await task.value } == .cancelled)
        #expect(shell.shown.isEmpty)
    }

    @Test func cancelledTasksOpenNothing() async {
        var count = 0
        shell.onShow = { _ in count += 1 }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await mediator.result(of: AccountPage.pickAddress)
        }
        #expect(await failure { _ = try await task.value } == .cancelled)
        #expect(count == 0)
    }

    /// A shell that forgets to report a closed screen leaks nothing: the reply goes with the screen.
    @Test func releasedScreensEndTheWait() async {
        let forgetful = ForgetfulShell()
        mediator.shell = forgetful
        let kind = await failure { _ = try await mediator.result(of: AccountPage.pickAddress) }
        #expect(kind == .closed && forgetful.count == 1)
    }

    /// A screen that leaks holds its reply, but not the caller.
    @Test func leakedScreensEndTheWaitWhenClosed() async {
        var leaked: [RecordingShell.Shown] = []
        shell.onShow = { [mediator] shown in
            leaked.append(shown)
            mediator.didClose(shown.id)
        }
        #expect(await failure { _ = try await mediator.result(of: AccountPage.pickAddress) } == .closed)
        #expect(leaked.count == 1)
    }

    @Test func mediatorsAndScreensAreReleased() async throws {
        weak var mediator: Mediator?
        weak var picker: AddressPicker?
        let shell = RecordingShell()
        try await {
            let local = Mediator(modules: { AccountModule() })
            local.shell = shell
            mediator = local
            shell.onShow = { shown in
                picker = shown.screen.content(as: AddressPicker.self)
                picker?.reply.finish(Address())
            }
            _ = try await local.result(of: AccountPage.pickAddress)
        }()
        #expect(mediator == nil && picker == nil)
    }

    @Test func pagesThatNoModuleHasReturnNothing() async {
        let mediator = Mediator(fallback: .web("https://m.example.com")) { OrdersModule() }
        mediator.shell = shell
        #expect(await failure { _ = try await mediator.result(of: AccountPage.pickAddress) } == .notFound)
        #expect(shell.webAddresses.isEmpty)
    }

    @Test func withoutShellNothingIsAwaited() async {
        mediator.shell = nil
        #expect(await failure { _ = try await mediator.result(of: AccountPage.pickAddress) } == .noShell)
        #expect(mediator.open(OrdersPage.list) != .shown)
    }

    @Test func repliesThatNobodyAwaitsSaySo() {
        #expect(!Reply<Void>().finish())
        #expect(AccountPage.signIn(Reply()) == .signIn(Reply()))
    }

    @Test func manyResultsAreAwaitedAtOnce() async throws {
        shell.onShow = { shown in
            guard case .pickNear(let city, let reply)? = shown.page as? AccountPage else { return }
            reply.finish(Address(street: city))
        }
        let streets = try await withThrowingTaskGroup(of: String.self) { group in
            for index in 0..<100 {
                group.addTask { try await mediator.result(of: { AccountPage.pickNear(city: "\(index)", $0) }).street }
            }
            var streets: Set<String> = []
            for try await street in group { streets.insert(street) }
            return streets
        }
        #expect(streets.count == 100 && shell.shown.isEmpty)
    }
}

/// Releases every screen at once, and reports nothing.
private final class ForgetfulShell: Shell {
    private(set) var count = 0
    func show(_ screen: Screen, id: ScreenID, of page: any Page, as presentation: Presentation) { count += 1 }
    func showWeb(_ address: String) {}
    func close(_ id: ScreenID) {}
}
