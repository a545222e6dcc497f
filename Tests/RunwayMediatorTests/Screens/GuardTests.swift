import RunwayMediator
import Testing

@MainActor struct GuardTests {
    private let session = Session()
    private let flags = Flags()
    private let shell = RecordingShell()
    private let mediator: Mediator

    init() {
        let signedIn = Guard("signedIn", redirectingTo: AccountPage.signIn) { [session] in session.isSignedIn }
        let isOn = Guard("isOn") { [flags] in flags.isOn }
        mediator = Mediator(fallback: .web("https://m.example.com")) {
            GuardedModule(guards: [isOn, signedIn])
            AccountModule()
        }
        mediator.shell = shell
    }

    /// Resumes when the number of screens was shown.
    private func shown(_ count: Int) -> AsyncStream<Void> {
        AsyncStream { reports in
            shell.onShow = { [shell] _ in if shell.shown.count >= count { reports.yield() } }
        }
    }

    private var signIn: Reply<Void>? { shell.shown.compactMap { $0.screen.content(as: SignIn.self)?.reply }.last }

    @Test func openGuardsLetPagesPass() {
        session.isSignedIn = true
        #expect(mediator.open(GuardedPage.first) == .shown)
        #expect(mediator.screen(for: GuardedPage.first) != nil)
    }

    @Test func signingInContinuesToThePage() async {
        #expect(mediator.open("app://guarded/second") == .waiting)
        #expect(shell.pages.count == 1 && mediator.screen(for: GuardedPage.first) == nil)
        let continued = shown(1)
        session.isSignedIn = true
        #expect(signIn?.finish() == true)
        for await _ in continued { break }
        #expect(shell.pages as? [GuardedPage] == [.second])
    }

    @Test func leavingSignInDropsThePage() async throws {
        let kind = await refusal(of: { GuardedPage.asking($0) }) { [shell, mediator] in shell.dismissLast(in: mediator)
        }
        #expect(kind == .closed && shell.shown.isEmpty)
        // The guard waits for nobody: the next page asks again.
        #expect(mediator.open(GuardedPage.first) == .waiting && shell.shown.count == 1)
    }

    @Test func signingInInVainEndsThere() async {
        let kind = await refusal(of: { GuardedPage.asking($0) }) { [shell] in
            shell.shown.last?.screen.content(as: SignIn.self)?.reply.finish()
        }
        #expect(kind == .shut && shell.shown.isEmpty)
    }

    @Test func resultsAreAwaitedThroughGuards() async throws {
        shell.onShow = { [session] shown in
            session.isSignedIn = true
            shown.screen.content(as: SignIn.self)?.reply.finish()
            if case .asking(let reply)? = shown.page as? GuardedPage { reply.finish(7) }
        }
        #expect(try await mediator.result(of: GuardedPage.asking) == 7)
        #expect(shell.shown.isEmpty)
    }

    @Test func oneSignInServesTheNewestPage() async {
        #expect(mediator.open(GuardedPage.first) == .waiting)
        #expect(mediator.open(GuardedPage.second) == .waiting)
        #expect(shell.shown.count == 1)
        let continued = shown(1)
        session.isSignedIn = true
        signIn?.finish()
        for await _ in continued { break }
        #expect(shell.pages as? [GuardedPage] == [.second])
    }

    @Test func replacedPagesEndTheirWait() async {
        let kind = await refusal(of: { GuardedPage.asking($0) }) { [mediator] in mediator.open(GuardedPage.first) }
        #expect(kind == .closed)
    }

    @Test func cancelledCallersDoNotContinue() async {
        let (asked, shows) = AsyncStream.makeStream(of: Void.self)
        let (closed, closes) = AsyncStream.makeStream(of: Void.self)
        let watching = WatchingShell(whenShown: { shows.yield() }, whenClosed: { closes.yield() })
        mediator.shell = watching
        let task = Task { try await mediator.result(of: GuardedPage.asking) }
        for await _ in asked { break }
        task.cancel()
        _ = await task.result
        session.isSignedIn = true
        watching.screens.last?.content(as: SignIn.self)?.reply.finish()
        for await _ in closed { break }
        #expect(watching.screens.count == 1)
    }

    @Test func switchedOffPagesOpenOnTheSite() {
        flags.isOn = false
        #expect(mediator.open(GuardedPage.first) == .web("https://m.example.com/guarded/first"))
        #expect(mediator.open("app://guarded/first") == .web("https://m.example.com/guarded/first"))
        #expect(shell.webAddresses.count == 2 && shell.shown.isEmpty)
    }

    /// The site shows the page, and its web view asks about the same address: it is not opened natively, nor on the
    /// site.
    @Test func switchedOffPagesDoNotLoop() {
        flags.isOn = false
        guard case .web(let address) = mediator.open(GuardedPage.first) else {
            Issue.record("the page was not opened on the site")
            return
        }
        guard case .refused(let error) = mediator.open(address, from: .pages) else {
            Issue.record("the site opened the page")
            return
        }
        #expect(error.kind == .shut && shell.webAddresses.count == 1)
        flags.isOn = true
        session.isSignedIn = true
        #expect(mediator.open(address, from: .pages) == .shown)
    }

    @Test func guardsOfTheSignInDoNotLoop() {
        let session = session
        let signedIn = Guard("signedIn", redirectingTo: { _ in GuardedPage.first }) { session.isSignedIn }
        let mediator = Mediator { GuardedModule(guards: [signedIn]) }
        mediator.shell = shell
        guard case .refused(let error) = mediator.open(GuardedPage.second) else {
            Issue.record("the guard's page passed its own guard")
            return
        }
        #expect(error.kind == .shut && shell.shown.isEmpty)
    }

    @Test func guardsWhosePageIsMissingRefuse() {
        let signedIn = Guard("signedIn", redirectingTo: AccountPage.signIn) { false }
        let mediator = Mediator { GuardedModule(guards: [signedIn]) }
        mediator.shell = shell
        for _ in 0..<2 {
            guard case .refused(let error) = mediator.open(GuardedPage.first) else {
                Issue.record("a page waits for a page that is missing")
                continue
            }
            #expect(error.kind == .notFound)
        }
    }

    /// Asks for the result of a page, and performs an action when the page of the guard is shown.
    private func refusal(
        of page: (Reply<Int>) -> GuardedPage, when action: @escaping @MainActor () -> Void
    ) async -> MediatorError.Kind? {
        shell.onShow = { shown in
            guard shown.page is AccountPage else { return }
            action()
        }
        do {
            _ = try await mediator.result(of: page)
            return nil
        } catch {
            shell.onShow = nil
            return error.kind
        }
    }
}

@MainActor final class Flags { var isOn = true }

enum GuardedPage: Page {
    static let module = "guarded"
    case first, second, asking(Reply<Int>)
    var reach: Reach { .links }
}

struct GuardedModule: Module {
    let guards: [Guard]
    func screen(for page: GuardedPage, in mediator: Mediator) -> Screen { Screen(page) }
    func guards(for page: GuardedPage) -> [Guard] { guards }
}

/// Stores what is shown, and reports it with what is closed.
private final class WatchingShell: Shell {
    private(set) var screens: [Screen] = []
    private let whenShown: () -> Void
    private let whenClosed: () -> Void
    init(whenShown: @escaping () -> Void, whenClosed: @escaping () -> Void) {
        self.whenShown = whenShown
        self.whenClosed = whenClosed
    }
    func show(_ screen: Screen, id: ScreenID, of page: any Page, as presentation: Presentation) {
        screens.append(screen)
        whenShown()
    }
    func showWeb(_ address: String) {}
    func close(_ id: ScreenID) { whenClosed() }
}
