import RunwayMediator
import Testing

/// Addresses that nobody should open.
@MainActor struct HostileAddressTests {
    private let mediator: Mediator
    private let shell: RecordingShell

    init() { (mediator, shell) = Mediator.example() }

    private nonisolated static let huge = String(repeating: "a", count: 100_000)
    private nonisolated static let parameters = (0..<40).map { "k\($0)=1" }.joined(separator: "&")

    @Test(arguments: [
        ("", MediatorError.Kind.malformed), ("app", .malformed), ("app:", .malformed), (":", .malformed),
        ("app:orders/list", .malformed), ("app:/orders/list", .malformed), ("://orders/list", .malformed),
        (" app://orders/list", .malformed), ("app://orders/list ", .malformed), ("app://orders/li st", .malformed),
        ("app://orders/list\n", .malformed), ("app://orders/list\u{0}", .malformed), ("app://orders/lïst", .malformed),
        ("app://orders\\list", .malformed), ("app://user@orders/list", .malformed),
        ("app://user:secret@orders/list", .malformed), ("app://orders:80/list", .malformed),
        ("app://[::1]/list", .malformed), ("app://orders%2Flist", .malformed), ("app://orders/list#top", .malformed),
        ("app://orders/order?id=7#", .malformed), ("app://orders/order?id=%", .malformed),
        ("app://orders/order?id=%3", .malformed), ("app://orders/order?id=%zz", .malformed),
        ("app://orders/order?id=7&tab=%00", .malformed), ("app://orders/order?id=7&tab=%FF", .malformed),
        ("app://orders/order?id=7&tab=%C0%80", .malformed), ("app://orders/order?id=7&tab=%ED%A0%80", .malformed),
        ("app://orders/%00", .malformed), ("app://orders/..", .malformed), ("app://orders/%2E%2E/list", .malformed),
        ("app://orders//list", .malformed), ("app://orders/list/", .malformed), ("app://orders/a%2Fb", .malformed),
        ("app://orders/\(huge)", .malformed), ("app://orders/order?id=7&tab=\(huge)", .malformed),
        ("app://orders" + String(repeating: "/a", count: 20), .malformed),
        ("javascript:alert(1)", .foreign), ("http://m.example.com/o/7", .foreign), ("file:///etc/passwd", .foreign),
        ("data:text/html,x", .foreign), ("application://orders/list", .foreign), ("ap://orders/list", .foreign),
        ("https://example.com/o/7", .foreign), ("https://m.example.com.evil.org/o/7", .foreign),
        ("https://evil-m.example.com/o/7", .foreign), ("https://m.example.com./o/7", .foreign),
        ("https://m.example.com:443/o/7", .malformed), ("https://m.example.com@evil.org/o/7", .malformed),
        ("https://m.example.com%2Eevil.org/o/7", .malformed), ("https:///o/7", .foreign),
        ("https://xn--mexample-q2a.com/o/7", .foreign), ("https://m.example.com\\@evil.org/", .malformed),
        ("app://orders/order", .invalid), ("app://orders/order?", .invalid), ("app://orders/order?id", .invalid),
        ("app://orders/order?id=", .invalid), ("app://orders/order?id=07", .invalid),
        ("app://orders/order?id=+1", .invalid), ("app://orders/order?id=%2B1", .invalid),
        ("app://orders/order?id=-0", .invalid), ("app://orders/order?id=1e3", .invalid),
        ("app://orders/order?id=1.0", .invalid), ("app://orders/order?id=0x1", .invalid),
        ("app://orders/order?id=%D9%A1", .invalid), ("app://orders/order?id=9223372036854775808", .invalid),
        ("app://orders/order?id=%2537", .invalid), ("app://orders/order?id=7;tab=x", .invalid),
        ("app://orders/order?id=7&id=7", .invalid), ("app://orders/order?id=7&id=8", .invalid),
        ("app://orders/order?id=7&%69d=8", .invalid), ("app://orders/order?id=7&ID=8", .invalid),
        ("app://orders/order?id=7&", .invalid), ("app://orders/order?&id=7", .invalid),
        ("app://orders/order?id=7&unknown=1", .invalid), ("app://orders/order?id=7&tab=a+b", .invalid),
        ("app://orders/order?id=7&utm_source=x", .invalid), ("app://orders/order?id=7&_0=7", .invalid),
        ("app://orders/list?id=7", .invalid), ("app://orders/order?\(parameters)", .invalid),
        ("app://orders/pay?id=7", .outOfReach), ("app://account/signIn", .outOfReach), ("app://help/faq", .outOfReach),
    ])
    func hostileLinksShowNothing(address: String, kind expected: MediatorError.Kind) {
        guard case .refused(let error) = mediator.open(address) else {
            Issue.record("\(address.prefix(80)) was opened")
            return
        }
        #expect(error.kind == expected, "\(address.prefix(80)): \(error)")
        #expect(shell.shown.isEmpty && shell.webAddresses.isEmpty)
    }

    @Test func tooManyParametersAreNotCompared() {
        guard case .refused(let error) = mediator.open("app://orders/order?\(Self.parameters)") else {
            Issue.record("the address was opened")
            return
        }
        #expect(error.reason.contains("too many"))
    }

    /// The site shows what is its own: whatever the app can't open there.
    @Test(arguments: [
        "https://m.example.com", "https://m.example.com/", "https://m.example.com/imprint",
        "https://m.example.com/o/07", "https://m.example.com/o/7?id=7", "https://m.example.com/o/7#reviews",
        "https://m.example.com/o/7?tab=a+b", "https://m.example.com/o/7?fbclid=x", "https://m.example.com/O/7",
        "https://m.example.com/orders/pay?id=7", "https://m.example.com/a/b/c/d", "https://m.example.com/o/7/",
        "https://m.example.com/o/7?debug",
    ])
    func theSiteShowsItsOtherAddresses(address: String) {
        #expect(mediator.open(address) == .web(address))
        #expect(shell.webAddresses == [address] && shell.shown.isEmpty)
        // The web view that shows it asks about its navigations, and shows what is refused.
        guard case .refused = mediator.open(address, from: .pages) else {
            Issue.record("a page of the site was opened again")
            return
        }
        #expect(shell.webAddresses.count == 1 && shell.shown.isEmpty)
    }

    @Test func missingPagesOpenOnTheSite() {
        #expect(mediator.open("app://basket/show?id=7") == .web("https://m.example.com/basket/show?id=7"))
        #expect(mediator.open("app://orders/returns") == .web("https://m.example.com/orders/returns"))
        #expect(mediator.open("app://orders") == .web("https://m.example.com/orders"))
        guard case .refused(let error) = mediator.open("app://orders/returns", from: .pages) else {
            Issue.record("the site was opened from the site")
            return
        }
        #expect(error.kind == .notFound && shell.webAddresses.count == 3)
    }

    @Test func withoutSiteMissingPagesAreRefused() {
        let (mediator, shell) = Mediator.example(fallback: .none)
        for address in ["app://orders/returns", "https://m.example.com/o/7"] {
            guard case .refused = mediator.open(address) else {
                Issue.record("\(address) was opened")
                continue
            }
        }
        #expect(shell.webAddresses.isEmpty && shell.shown.isEmpty)
    }

    @Test func reachIsCheckedForEachCaller() {
        #expect(mediator.open("app://help/faq", from: .pages) == .shown)
        #expect(mediator.open("app://orders/list", from: .pages) == .shown)
        #expect(mediator.open("app://orders/pay?id=7", from: .app) == .shown)
        #expect(kind { try mediator.page(at: "app://orders/pay?id=7", from: .pages) } == .outOfReach)
        #expect(kind { try mediator.page(at: "app://help/faq", from: .links) } == .outOfReach)
        #expect(shell.pages.count == 3)
    }
}
