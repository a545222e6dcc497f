import RunwayMediator
import Testing

/// Paths of an existing web site.
@MainActor struct PathTests {
    private let mediator = Mediator(fallback: .web("https://shop.example")) { SiteModule() }

    @Test(arguments: [
        ("https://shop.example/p/7", SitePage.product(id: 7, size: nil)),
        ("https://shop.example/p/7?size=XL", .product(id: 7, size: "XL")),
        ("https://shop.example/search/red%20shoes", .search(text: "red shoes", page: nil)),
        ("https://shop.example/search/red/2", .search(text: "red", page: 2)),
        ("https://shop.example/search/list.php?text=2", .find(text: "2")),
        ("https://shop.example/site/about", .about),
    ])
    func pagesAreWrittenByTheirPaths(address: String, page: SitePage) throws {
        #expect(try mediator.webAddress(of: page) == address)
        #expect(try mediator.page(at: address) as? SitePage == page)
    }

    /// Values that servers or browsers would change in a path are in the query.
    @Test(arguments: ["", ".", "..", "a/b"])
    func unfitValuesAreInTheQuery(text: String) throws {
        let address = try mediator.webAddress(of: SitePage.search(text: text, page: nil))
        #expect(address.hasPrefix("https://shop.example/site/search?text="))
        #expect(try mediator.page(at: address) as? SitePage == .search(text: text, page: nil))
    }

    @Test func parametersInPathAndQueryAreRefused() {
        #expect(kind { try mediator.page(at: "https://shop.example/p/7?id=7") } == .invalid)
        #expect(kind { try mediator.page(at: "https://shop.example/search/red/07") } == .invalid)
        #expect(kind { try mediator.page(at: "app://p/7") } == .notFound)
    }

    @Test func otherPathsAreTriedInTurn() throws {
        // "new" is no number, so that the second path fits.
        #expect(try mediator.page(at: "https://shop.example/p/new") as? SitePage == .shelf(name: "new"))
        #expect(try mediator.webAddress(of: SitePage.shelf(name: "new")) == "https://shop.example/p/new")
        // The path of the shelf "7" is that of a product.
        #expect(try mediator.webAddress(of: SitePage.shelf(name: "7")) == "https://shop.example/site/shelf?name=7")
    }

    @Test func withoutSiteThereIsNoWebAddress() {
        #expect(kind { try Mediator(modules: { SiteModule() }).webAddress(of: SitePage.about) } == .notFound)
    }
}

enum SitePage: Page {
    static let module = "site"
    case product(id: Int, size: String?), shelf(name: String), search(text: String, page: Int?), find(text: String),
        about
    var reach: Reach { .links }
}

struct SiteModule: Module {
    func screen(for page: SitePage, in mediator: Mediator) -> Screen { Screen(page) }
    var paths: KeyValuePairs<String, String> {
        [
            "product": "/p/{id}", "shelf": "/p/{name}", "find": "/search/list.php", "search": "/search/{text}/{page}",
            "search": "/search/{text}",
        ]
    }
}
