import Foundation
import RunwayMediator
import Testing

@MainActor struct AddressTests {
    private let mediator = Mediator.example().0

    @Test(arguments: [
        ("app://orders/list", OrdersPage.list), ("app://orders/order?id=7", .order(id: 7, tab: nil)),
        ("app://orders/order?id=-7&tab=", .order(id: -7, tab: "")),
        ("app://orders/order?id=7&tab=a%20%26%2B%2F%3F%23%25", .order(id: 7, tab: "a &+/?#%")),
        ("app://orders/order?id=7&tab=%E2%82%AC%F0%9F%9A%80", .order(id: 7, tab: "€🚀")),
        ("app://orders/order?id=7&tab=%2541", .order(id: 7, tab: "%41")),
    ])
    func pagesHaveTheirAddresses(address: String, page: OrdersPage) throws {
        #expect(try mediator.address(of: page) == address)
        #expect(try mediator.page(at: address) as? OrdersPage == page)
    }

    @Test(arguments: [
        "app://orders/order?tab=x&id=7", "APP://Orders/order?id=7&tab=x", "app://orders/order?id=%37&tab=%78",
        "https://m.example.com/o/7?tab=x", "HTTPS://M.Example.Com/o/7?tab=x", "https://m.example.com/%6F/7?tab=x",
        "https://m.example.com/orders/order?tab=x&id=7", "https://m.example.com/o/7?utm_source=a+b&tab=x",
    ])
    func equivalentAddressesOpenOnePage(address: String) throws {
        #expect(try mediator.page(at: address) as? OrdersPage == .order(id: 7, tab: "x"))
    }

    @Test func enumsOfStringsArePages() throws {
        #expect(try mediator.address(of: HelpPage.contact) == "app://help/contact")
        #expect(try mediator.page(at: "app://help/contact", from: .pages) as? HelpPage == .contact)
        #expect(throws: MediatorError.self) { try mediator.page(at: "app://help/contact?a=1", from: .pages) }
        #expect(throws: MediatorError.self) { try mediator.page(at: "app://help/nothing", from: .pages) }
    }

    @Test func repliesAreNoPartOfAnAddress() throws {
        let page = AccountPage.pickNear(city: "Berlin", Reply())
        #expect(try mediator.address(of: page) == "app://account/pickNear?city=Berlin")
        #expect(try mediator.page(at: "app://account/pickNear?city=Berlin", from: .app) as? AccountPage == page)
        #expect(throws: MediatorError.self) { try mediator.page(at: "app://account/pickNear?city=B&_1=1", from: .app) }
    }

    @Test func codingKeysOutliveNames() throws {
        let mediator = Mediator(modules: { RenamedModule() })
        #expect(try mediator.address(of: RenamedPage.details(number: 7)) == "app://renamed/order?id=7")
        #expect(try mediator.page(at: "app://renamed/order?id=7") as? RenamedPage == .details(number: 7))
        let differences = mediator.differences(from: [
            "app://renamed/order?id=7": RenamedPage.details(number: 7),
            "app://renamed/details?number=7": RenamedPage.details(number: 7),
            "app://renamed/order?id=8": RenamedPage.details(number: 7),
        ])
        #expect(differences.count == 2)
        #expect(differences.first?.contains("notFound") == true && differences.last?.contains("another page") == true)
    }

    @Test(arguments: [
        UnwritablePage.list([1]), .pair(.init(a: 1, b: 2)), .text("a\u{0}b"), .number(.infinity), .number(.nan),
        .text(String(repeating: "x", count: 4096)), .maybe(.some(.none)), .other(.text("a")), .slashed, .nameless,
    ])
    func pagesWithoutTextHaveNoAddress(page: UnwritablePage) {
        let mediator = Mediator(modules: { UnwritableModule() })
        let shell = RecordingShell()
        mediator.shell = shell
        // Two levels of absence are written alike.
        if case .maybe = page { return #expect((try? mediator.address(of: page)) == "app://unwritable/maybe") }
        #expect(kind { try mediator.address(of: page) } == .invalid)
        #expect(mediator.open(page) == .shown && shell.pages.count == 1)
    }

    /// Swift holds two orders of these marks for equal; an address has bytes.
    @Test func oneTextHasOneSpelling() throws {
        let mediator = Mediator { MarkedModule() }
        let address = try mediator.address(of: MarkedPage.shelf(.marked))
        #expect(address == "app://marked/shelf?_0=a%CC%A3%CC%87")
        #expect(try mediator.page(at: address) as? MarkedPage == .shelf(.marked))
        #expect(kind { try mediator.page(at: "app://marked/shelf?_0=a%CC%87%CC%A3") } == .invalid)
    }

    @Test func structsAreNoPages() {
        #expect(kind { try mediator.address(of: StructPage(id: 7)) } == .invalid)
    }
}

/// Returns the kind of the error that a closure throws, or `nil`.
func kind<Value>(of operation: () throws -> Value) -> MediatorError.Kind? {
    do {
        _ = try operation()
        return nil
    } catch { return (error as? MediatorError)?.kind }
}

enum RenamedPage: Page {
    static let module = "renamed"
    case details(number: Int)
    var reach: Reach { .links }
    enum CodingKeys: String, CodingKey { case details = "order" }
    enum DetailsCodingKeys: String, CodingKey { case number = "id" }
}

struct RenamedModule: Module {
    func screen(for page: RenamedPage, in mediator: Mediator) -> Screen { Screen(page) }
}

indirect enum UnwritablePage: Page {
    struct Pair: Codable, Hashable { var a: Int, b: Int }
    static let module = "unwritable"
    case list([Int]), pair(Pair), text(String), number(Double), maybe(Int??), other(UnwritablePage), slashed, nameless
    enum CodingKeys: String, CodingKey {
        case list, pair, text, number, maybe, other
        case slashed = "a/b"
        case nameless = ""
    }
}

struct UnwritableModule: Module {
    func screen(for page: UnwritablePage, in mediator: Mediator) -> Screen { Screen(page) }
}

enum MarkedPage: Page {
    enum Shelf: String, Codable { case marked = "a\u{323}\u{307}" }
    static let module = "marked"
    case shelf(Shelf)
    var reach: Reach { .links }
}

struct MarkedModule: Module {
    func screen(for page: MarkedPage, in mediator: Mediator) -> Screen { Screen(page) }
}

struct StructPage: Page {
    static let module = "struct"
    var id: Int
}
