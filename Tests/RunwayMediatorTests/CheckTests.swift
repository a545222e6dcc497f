import RunwayMediator
import Testing

@MainActor struct CheckTests {
    @Test func completeListsHaveNoProblem() {
        #expect(Mediator.example().0.check().isEmpty)
        #expect(Mediator(fallback: .web("https://m.example.com")) { AnyModule() }.check().isEmpty)
    }

    @Test func modulesAndServicesAreListedOnce() {
        let problems = Mediator {
            OrdersModule()
            OrdersModule()
            SameNameModule()
        }.check()
        #expect(
            problems == [
                "Two modules have the pages OrdersPage.", "Two modules have the name orders.",
                "Two modules supply the service Orders.",
                "The paths /o/{id} and /o/{id} fit the same addresses.",
            ])
    }

    @Test func modulesInUseAreListed() {
        #expect(
            Mediator { AccountModule() }.check() == [
                "AccountModule uses OrdersPage, whose module is not listed.",
                "AccountModule uses the service Orders, which no module supplies.",
            ])
    }

    @Test func namesCanBeInAddresses() {
        #expect(Mediator { BadlyNamedModule() }.check().count == 1)
    }

    @Test func pathsNamePagesAndParameters() {
        #expect(
            Mediator { BadPathsModule() }.check() == [
                "The path o/{id} of OrdersPage does not begin with a slash, or is too deep.",
                "The path /o//{id} of OrdersPage has a segment that is empty, or with a brace, %, ? or #.",
                "The path /o/x{id} of OrdersPage has a segment that is empty, or with a brace, %, ? or #.",
                "The path /o?id={id} of OrdersPage has a segment that is empty, or with a brace, %, ? or #.",
                "The path /o/{id}/{id} of OrdersPage has a parameter twice.",
                "The path /r/{id}: OrdersPage has no page returns.",
                "The path /l/{id}: OrdersPage has no parameter id of list.",
                "The path /n/{number}: OrdersPage has no parameter number of order.",
                "The paths /y/{tab} and /y/{id} fit the same addresses.",
            ])
    }
}

enum SameNamePage: Page {
    static let module = "orders"
    case list
}

struct SameNameModule: Module {
    func screen(for page: SameNamePage, in mediator: Mediator) -> Screen { Screen(page) }
}

enum BadlyNamedPage: Page {
    static let module = "Orders & more"
    case list
}

struct BadlyNamedModule: Module {
    func screen(for page: BadlyNamedPage, in mediator: Mediator) -> Screen { Screen(page) }
}

struct BadPathsModule: Module {
    func screen(for page: OrdersPage, in mediator: Mediator) -> Screen { Screen(page) }
    var paths: KeyValuePairs<String, String> {
        [
            "order": "o/{id}", "order": "/o//{id}", "order": "/o/x{id}", "order": "/o?id={id}", "order": "/o/{id}/{id}",
            "returns": "/r/{id}", "list": "/l/{id}", "order": "/n/{number}", "order": "/y/{tab}", "pay": "/y/{id}",
        ]
    }
}
