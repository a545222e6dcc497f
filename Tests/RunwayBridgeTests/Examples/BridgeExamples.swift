import Foundation
import HTTPTypes
import Runway
import RunwayBridge
import RunwayMediator

// The examples of the documentation.

private enum Shop: APIService {
    static let environments: [ServiceEnvironment: String] = [:]
}

private struct OrderList: Endpoint, Decodable {
    static let service = Shop.self
    var path: EndpointPath { "orders" }
    var pageSize: Int
}

private struct Order: Encodable, Sendable {
    let id: Int
}

private struct OrderID: Decodable, Sendable {
    let id: Int
}

private struct Picture: Decodable, Sendable {
    let name: String
}

private struct Orders: Sendable {
    func list(state: String) async throws -> [Order] { [] }
    func cancel(_ order: OrderID, key: String) async throws -> NoValue { NoValue() }
}

private struct PrintingSink: BridgeSink {
    func receive(_ record: BridgeRecord) { print(record) }
}

// swift-format-ignore
private func declareCommands(_ orders: Orders, _ location: Command) {
    struct OrderQuery: Decodable { let state: String }

    let listOrders = Command("orders.list") { (query: OrderQuery, call) in
        try await orders.list(state: query.state)               // [Order], where Order is Encodable
    }
    let cancelOrder = Command("orders.cancel", isUnsafe: true) { (order: OrderID, call) in
        try await orders.cancel(order, key: call.idempotencyKey)
    }
    let bridge = Bridge(
        capabilities: [Capability(Origin("https://m.example.com")!, commands: [listOrders, cancelOrder])],
        sinks: [PrintingSink()])
    bridge.signOut()
    let shop = Capability(Origin("https://m.example.com")!, commands: [listOrders, cancelOrder])
    let help = Capability(.bundle("help"), commands: [location])
    _ = [shop, help]
}

private func checkInputs(_ network: NetworkLayer) {
    let listOrders = Command("orders.list", calling: OrderList.self, on: network) { list throws(BridgeError) in
        if list.pageSize > 50 { throw BridgeError(.invalidInput, "A page has at most 50 orders.") }
    }
    _ = listOrders
}

// swift-format-ignore
private func grant(_ network: NetworkLayer, _ mediator: Mediator, _ sink: any BridgeSink) {
    let listOrders = Command("orders.list", calling: OrderList.self, on: network)
    let uploadPicture = Command("orders.upload", isUnsafe: true) { (picture: Picture, call) in
        for part in 1...4 { try await call.send(Double(part) / 4) }
        return NoValue()
    }
    let bridge = Bridge(
        capabilities: [
            Capability(Origin("https://m.example.com")!, commands: [listOrders, uploadPicture, .openPages(in: mediator)])
        ], sinks: [sink])
    _ = bridge
}

private struct Summary: Encodable, Sendable {
    let title: String
}

private protocol Summaries: Sendable {
    func summary(of id: Int) async throws -> Summary
}

private enum AccountPage: Page {
    static let module = "account"
    case pick(Reply<String>)
}

// swift-format-ignore
private func useServices(_ network: NetworkLayer, _ mediator: Mediator, _ device: DeviceFunctions) {
    let read = Command("shop.get", calling: Shop.self, below: ["orders", "catalogue/items"], on: network)
    let add = Command("shop.post", calling: Shop.self, method: .post, below: ["cart"], on: network)
    let summary = Command("orders.summary", using: (any Summaries).self, in: mediator) { (orders, id: OrderID, _) in
        try await orders.summary(of: id.id)
    }
    let pick = Command("account.pick", resultOf: { (_: NoValue, reply) in AccountPage.pick(reply) }, in: mediator)
    let help = Capability(.bundle("help"), commands: [device.location, device.share])
    _ = [read, add, summary, pick]
    _ = help
}

// swift-format-ignore
private func serveFiles(_ listOrders: Command, _ folder: URL) {
    let bridge = Bridge(
        capabilities: [Capability(.bundle("help"), commands: [listOrders])],
        bundles: [BundleFiles("help", in: folder)])
    _ = bridge
}
