import Foundation
import HTTPTypes
import Runway
import RunwayBridge
import RunwayMediator
import RunwayStreams

/// The orders of the account. Pages of the shop call it: what they may choose is what it declares.
struct OrderList: Endpoint, Decodable {
    static let service = Listings.self
    static let cache = CachePolicy.timeToLive(.seconds(60))
    var path: EndpointPath { "orders" }
}

/// Sends a picture of a delivery.
struct OrderPicture: Endpoint {
    static let service = Listings.self
    static let method = HTTPRequest.Method.put
    static let encoding = ParameterEncoding.raw(contentType: "image/jpeg")
    @Unencoded var order: Int
    @Unencoded var picture: Data
    var path: EndpointPath { "orders/\(order)/picture" }
    var content: RequestBody { .bytes(Array(picture)) }
    var invalidates: [CacheInvalidation] { [.endpoint(OrderList.self)] }
}

/// What happens to the orders of the account, as the server announces it.
struct OrderEvents: EventStreamEndpoint {
    static let service = Listings.self
    let topics: Set<String>?
    var path: EndpointPath { "events" }
    func encode(to encoder: any Encoder) {}
}

/// The contract of the module with the user's addresses. Each app has a screen for it.
enum AddressPage: Page {
    static let module = "addresses"
    case pick(Reply<Address>)
    var reach: Reach { .pages }
}

struct Address: Codable, Hashable, Identifiable, Sendable {
    var id: String { "\(street), \(city)" }
    var street: String
    var city: String

    static let all = [Address(street: "Elm Street 7", city: "Leiden"), Address(street: "Quay 12", city: "Ghent")]
}

/// What pages of the shop may ask the app. No function of the device is among it.
enum Shop {
    /// The web site of the shop. Its origin is compared whole, and nothing else of an address.
    static let site = "https://m.example.com"
    static let page = "shop/shop.html"

    /// Creates the bridge of the account of the app.
    static func bridge(over network: NetworkLayer, in mediator: Mediator) -> Bridge {
        guard let origin = RunwayBridge.Origin(site) else { preconditionFailure("\(site) is an origin") }
        return bridge(for: origin, over: network, in: mediator)
    }

    /// Creates the bridge of an account.
    ///
    /// - Parameters:
    ///   - origin: The origin of the shop's pages.
    ///   - bundles: The files of the pages, if they are in a bundle.
    ///   - sinks: Receive a record of each call.
    static func bridge(
        for origin: RunwayBridge.Origin, over network: NetworkLayer, in mediator: Mediator, bundles: [BundleFiles] = [],
        sinks: [any BridgeSink] = []
    ) -> Bridge {
        let listOrders = Command("orders.list", calling: OrderList.self, on: network)
        // A whole business: the web page learns the address, and nothing of the screen that picks it.
        let pickAddress = Command(
            "addresses.pick", resultOf: { (_: NoValue, reply) in AddressPage.pick(reply) }, in: mediator)
        let commands = [listOrders, sendPicture(over: network), followOrders(over: network), pickAddress]
        return Bridge(capabilities: [Capability(origin, commands: commands)], bundles: bundles, sinks: sinks)
    }

    private static func sendPicture(over network: NetworkLayer) -> Command {
        struct Input: Decodable, Sendable { let order: Int, picture: Data }
        return Command("orders.picture", isUnsafe: true, deadline: .seconds(60)) { (input: Input, call) in
            let (shares, report) = AsyncStream.makeStream(of: Double.self)
            async let upload: Void = {
                defer { report.finish() }
                _ = try await network.upload(OrderPicture(order: input.order, picture: input.picture)) {
                    report.yield($0.fraction ?? 0)
                }
            }()
            for await share in shares { try await call.send(share) }
            try await upload
            return NoValue()
        }
    }

    private static func followOrders(over network: NetworkLayer) -> Command {
        struct Change: Codable, Sendable { let order: Int, text: String }
        return Command("orders.changes", deadline: .seconds(86_400)) { (_: NoValue, call) in
            let account = network.settings(of: Listings.self).account ?? ""
            for try await element in network.events(of: OrderEvents(topics: ["orders/\(account)"])) {
                if case .event(let event) = element { try await call.send(event.decode(Change.self)) }
            }
            return NoValue()
        }
    }
}
