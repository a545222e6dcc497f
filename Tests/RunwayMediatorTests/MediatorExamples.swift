import Foundation
import RunwayMediator
import Testing

// The examples of the documentation, which are also what the other tests open.

struct Summary: Equatable, Sendable { var count = 3 }
struct Address: Equatable, Sendable { var street = "Elm Street" }
protocol Orders: Sendable { func summary(of id: Int) async throws -> Summary }
protocol Accounts: Sendable { var name: String { get } }

enum OrdersPage: Page {
    static let module = "orders"
    case list, order(id: Int, tab: String?), pay(id: Int)
    var reach: Reach { if case .pay = self { .app } else { .links } }
}

enum AccountPage: Page {
    static let module = "account"
    case signIn(Reply<Void>), pickAddress(Reply<Address>), pickNear(city: String, Reply<Address>)
}

enum HelpPage: String, Page {
    static let module = "help"
    case faq, contact
    var reach: Reach { .pages }
}

struct LiveOrders: Orders {
    func summary(of id: Int) async throws -> Summary { Summary() }
}
struct OrderList { let mediator: Mediator }
struct OrderDetails { var id: Int, tab: String? }
struct Payment {
    let id: Int
    init(of id: Int) { self.id = id }
}

struct OrdersModule: Module {
    func screen(for page: OrdersPage, in mediator: Mediator) -> Screen {
        switch page {
        case .list: Screen(OrderList(mediator: mediator))
        case .order(let id, let tab): Screen(OrderDetails(id: id, tab: tab))
        case .pay(let id): Screen(Payment(of: id), as: .sheet)
        }
    }
    var services: [Service] { [Service((any Orders).self) { LiveOrders() }] }
    var paths: KeyValuePairs<String, String> { ["order": "/o/{id}"] }
}

struct AccountModule: Module {
    func screen(for page: AccountPage, in mediator: Mediator) -> Screen {
        switch page {
        case .signIn(let reply): Screen(SignIn(reply: reply), as: .sheet)
        case .pickAddress(let reply), .pickNear(_, let reply): Screen(AddressPicker(reply: reply))
        }
    }
    var uses: [Any.Type] { [OrdersPage.self, (any Orders).self] }
}

struct HelpModule: Module {
    func screen(for page: HelpPage, in mediator: Mediator) -> Screen { Screen(page) }
}

@MainActor final class SignIn {
    let reply: Reply<Void>
    init(reply: Reply<Void>) { self.reply = reply }
}

@MainActor final class AddressPicker {
    let reply: Reply<Address>
    init(reply: Reply<Address>) { self.reply = reply }
}

@MainActor final class Session { var isSignedIn = false }

extension Mediator {
    /// A mediator of the example's modules, with a shell that records.
    static func example(fallback: Fallback = .web("https://m.example.com")) -> (Mediator, RecordingShell) {
        let mediator = Mediator(fallback: fallback, ignoredParameters: ["utm_source"]) {
            OrdersModule()
            AccountModule()
            HelpModule()
        }
        let shell = RecordingShell()
        mediator.shell = shell
        return (mediator, shell)
    }
}

@MainActor struct MediatorExamples {
    private let shell = RecordingShell()

    @Test func theModulesOpenAndReturn() async throws {
        shell.onShow = { shown in
            if case .pickAddress(let reply)? = shown.page as? AccountPage { reply.finish(Address()) }
        }
        let mediator = Mediator(fallback: .web("https://m.example.com")) {
            OrdersModule()
            AccountModule()
        }
        mediator.shell = shell
        mediator.open(OrdersPage.order(id: 7, tab: nil))
        let address = try await mediator.result(of: AccountPage.pickAddress)
        let summary = try await mediator.service((any Orders).self).summary(of: 7)
        #expect(address == Address() && summary == Summary())
        #expect(shell.pages as? [OrdersPage] == [.order(id: 7, tab: nil)])
        assert(mediator.check().isEmpty)
    }

    @Test func aPageReturnsItsResult() async throws {
        let (mediator, shell) = Mediator.example()
        shell.onShow = { $0.screen.content(as: AddressPicker.self)?.reply.finish(Address()) }
        let address = try await mediator.result(of: AccountPage.pickAddress)
        let other = try await mediator.result(of: { AccountPage.pickNear(city: "Berlin", $0) })
        #expect(address == other && shell.shown.isEmpty)
    }

    @Test func linksAreRecorded() {
        let (mediator, _) = Mediator.example()
        let shell = RecordingShell()
        mediator.shell = shell
        mediator.open("app://orders/order?id=7")
        #expect(shell.pages.last as? OrdersPage == .order(id: 7, tab: nil))
    }

    @Test func publishedAddressesOpenTheirPages() {
        let (mediator, _) = Mediator.example()
        let differences = mediator.differences(from: [
            "app://orders/order?id=7": OrdersPage.order(id: 7, tab: nil),
            "https://m.example.com/o/7": OrdersPage.order(id: 7, tab: nil),
        ])
        #expect(differences.isEmpty)
    }

    @Test func guardsAreMadeByTheApp() {
        let session = Session()
        let features = (payments: false, search: true)
        let signedIn = Guard("signedIn", redirectingTo: AccountPage.signIn) { session.isSignedIn }
        let payments = Guard("payments") { features.payments }
        #expect([signedIn, payments].map(\.name) == ["signedIn", "payments"])
    }

    @Test func theSiteServesItsAssociation() throws {
        let (mediator, _) = Mediator.example()
        let document = try JSONEncoder().encode(mediator.siteAssociation(of: ["ABCDE12345.com.example.shop"]))
        let object = try JSONSerialization.jsonObject(with: document) as? [String: [String: [[String: Any]]]]
        let details = try #require(object?["applinks"]?["details"]?.first)
        let components = try #require(details["components"] as? [[String: String]])
        #expect(details["appIDs"] as? [String] == ["ABCDE12345.com.example.shop"])
        #expect(components.compactMap { $0["/"] } == ["/o/*", "/account/*", "/help/*", "/orders/*"])
    }
}

@MainActor func countCrashes(at file: URL) -> Guard {
    let crashes = PageCrashes(at: file, build: "412")
    let native = Guard("native orders") { !crashes.areRepeated(in: "orders") }
    crashes.begin("orders")  // when the screen appears, such as for a ScreenEvent of RunwayScreens
    crashes.end("orders")  // when it disappears
    return native
}
