import Foundation
import RunwayMediator

enum OrdersPage: Page {
    static let module = "orders"
    case list, order(id: Int, tab: String?), pay(id: Int)
    var reach: Reach { if case .pay = self { .app } else { .links } }
}

struct OrdersModule: Module {
    func screen(for page: OrdersPage, in mediator: Mediator) -> Screen { Screen(page) }
    var paths: KeyValuePairs<String, String> { ["order": "/o/{id}"] }
}

/// An app has more modules than the one that opens.
struct OtherModule: Module {
    func screen(for page: OtherPage, in mediator: Mediator) -> Screen { Screen(page) }
    var paths: KeyValuePairs<String, String> { ["first": "/f", "second": "/s/{_0}"] }
}
enum OtherPage: Page {
    static let module = "other"
    case first, second(String)
}

/// Shows nothing, and stores nothing.
@MainActor final class EmptyShell: Shell {
    private(set) var count = 0
    func show(_ screen: Screen, id: ScreenID, of page: any Page, as presentation: Presentation) { count += 1 }
    func showWeb(_ address: String) {}
    func close(_ id: ScreenID) {}
}

@main @MainActor
struct MediatorBenchmark {
    private static let iterations = 1000
    /// The names of the targets that were missed.
    private static var missed: [String] = []

    static func main() throws {
        let rounds = Int(CommandLine.arguments.dropFirst().first ?? "") ?? 400
        let shell = EmptyShell()
        let mediator = Mediator(fallback: .web("https://m.example.com")) {
            OtherModule()
            OrdersModule()
        }
        mediator.shell = shell
        let page = OrdersPage.order(id: 7, tab: "open")
        let address = "app://orders/order?id=7&tab=open"
        let site = "https://m.example.com/o/7?tab=open"
        let (decoder, encoder) = (JSONDecoder(), JSONEncoder())
        let json = try encoder.encode(page)

        try measure("open a page", rounds, atMost: 1) { _ = mediator.open(page) }
        try measure("open an address", rounds, atMost: 6) { _ = mediator.open(address) }
        try measure("read an address", rounds, atMost: 2) { _ = try mediator.page(at: address) }
        try measure("read an address of the site", rounds) { _ = try mediator.page(at: site) }
        try measure("write an address", rounds) { _ = try mediator.address(of: page) }
        try measure("Foundation: split the address", rounds) { _ = URLComponents(string: address)?.queryItems }
        try measure("Foundation: decode the page from JSON", rounds) {
            _ = try decoder.decode(OrdersPage.self, from: json)
        }
        try measure("Foundation: encode the page as JSON", rounds) { _ = try encoder.encode(page) }
        guard shell.count == 2 * rounds * iterations else { fatalError("a page did not open") }
        if !missed.isEmpty {
            print("missed: \(missed.joined(separator: ", "))")
            exit(1)
        }
    }

    /// Prints the time of one call in the best round.
    ///
    /// - Parameter target: The longest time that is wanted, in microseconds.
    private static func measure(
        _ name: String, _ rounds: Int, atMost target: Double? = nil, _ call: () throws -> Void
    ) throws {
        let clock = ContinuousClock()
        let best =
            try (0..<rounds).map { _ in
                try clock.measure { for _ in 0..<iterations { try call() } }
            }.min() ?? .zero
        let microseconds = best / .microseconds(1) / Double(iterations)
        if let target, microseconds > target { missed.append(name) }
        let wanted = target.map { String(format: " (at most %.0f wanted)", $0) } ?? ""
        print(
            name.padding(toLength: 40, withPad: " ", startingAt: 0) + String(format: "%6.2f µs", microseconds) + wanted)
    }
}
