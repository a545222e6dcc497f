import RunwayMediator
import Testing

@MainActor struct NavigationTests {
    private let flags = Flags()
    private let calls = Calls()
    private let shell = RecordingShell()
    private let mediator: Mediator

    init() {
        let isOn = Guard("isOn") { [flags] in flags.isOn }
        mediator = Mediator(fallback: .web("https://m.example.com")) { [calls] in
            PrefetchingModule(guards: [isOn], calls: calls)
            OrdersModule()
            HelpModule()
        }
        mediator.shell = shell
    }

    @Test(arguments: [
        "https://m.example.com/o/7", "https://M.EXAMPLE.com/orders/list", "app://orders/list", "app://help/faq",
    ])
    func pagesOfTheBuildOpenNatively(address: String) {
        #expect(mediator.navigate(to: address) == .native)
        #expect(shell.shown.count == 1 && shell.webAddresses.isEmpty)
    }

    @Test(arguments: [
        "https://m.example.com/", "https://m.example.com", "https://M.example.com/list?f[]=1",
        "https://m.example.com/orders/pay?id=7", "https://m.example.com/o/07", "https://m.example.com/o/7#top",
        "https://m.example.com/" + String(repeating: "a", count: 5000), "https://m.example.com?a|b",
    ])
    func theWebViewLoadsItsSite(address: String) {
        #expect(mediator.navigate(to: address) == .web)
        #expect(shell.shown.isEmpty && shell.webAddresses.isEmpty)
    }

    @Test(arguments: [
        "https://m.example.com.evil.example/orders/list", "https://m.example.com@evil.example/orders/list",
        "https://evil.example:8443/?f[]=1", "http://m.example.com/orders/list", "https://m.example.com:8443/",
        "https://m.example.com./orders/list", "tel:+4930123", "mailto:a@b.example?subject=c", "SMS:1",
    ])
    func otherSitesLeaveTheApp(address: String) {
        #expect(mediator.navigate(to: address) == .system)
        #expect(shell.shown.isEmpty && shell.webAddresses.isEmpty)
    }

    @Test(arguments: [
        "javascript:alert(1)", "data:text/html,a", "file:///etc/passwd", "blob:https://m.example.com/1", "other://list",
        "app://orders/pay?id=7", "app://orders/unknown", "app://orders/order?id=07", "", "orders/list",
        "https://m.example.com\\@evil.example/", "https://m.example.com /", "https://m.\u{E4}.example/", "https:\n//a",
    ])
    func otherSchemesAreRefused(address: String) {
        guard case .refused = mediator.navigate(to: address) else {
            Issue.record("\(address) is not refused")
            return
        }
        #expect(shell.shown.isEmpty && shell.webAddresses.isEmpty)
    }

    @Test func switchedOffPagesStayInTheWebView() {
        flags.isOn = false
        #expect(mediator.navigate(to: "https://m.example.com/prefetching/first") == .web)
        flags.isOn = true
        #expect(mediator.navigate(to: "https://m.example.com/prefetching/first") == .native)
    }

    @Test func pagesStartTheirCallsBeforeTheyShow() {
        shell.onShow = { [calls] _ in calls.names.append("shown") }
        mediator.open(PrefetchingPage.first)
        #expect(calls.names == ["first", "shown"])
    }

    @Test func switchedOffPagesPrefetchOnTheWeb() {
        flags.isOn = false
        mediator.open(PrefetchingPage.first)
        _ = mediator.navigate(to: "https://m.example.com/prefetching/second")
        _ = mediator.navigate(to: "app://prefetching/second")
        #expect(calls.names == ["first", "second"])
        #expect(shell.webAddresses == ["https://m.example.com/prefetching/first"])
    }

    @Test func pagesThatDoNotOpenMakeNoCalls() {
        let signIn = Guard("signedIn", redirectingTo: { _ in HelpPage.faq }) { false }
        let mediator = Mediator {
            PrefetchingModule(guards: [signIn], calls: calls)
            HelpModule()
        }
        mediator.open(PrefetchingPage.first)
        mediator.shell = shell
        #expect(mediator.open(PrefetchingPage.first) == .waiting)
        #expect(calls.names.isEmpty)
    }
}

@MainActor private final class Calls { var names: [String] = [] }

private enum PrefetchingPage: String, Page {
    static let module = "prefetching"
    case first, second
    var reach: Reach { .links }
}

private struct PrefetchingModule: Module {
    let guards: [Guard]
    let calls: Calls
    func screen(for page: PrefetchingPage, in mediator: Mediator) -> Screen { Screen(page) }
    func guards(for page: PrefetchingPage) -> [Guard] { guards }
    func prefetch(for page: PrefetchingPage) { calls.names.append(page.rawValue) }
}
