import Foundation
import Hummingbird
import NIOCore
import Runway
import RunwayJSON
import RunwayServer
import RunwayServerStorage
import RunwayStreams
import RunwayTesting

import struct Runway.EndpointPath

// The examples in the documentation of event streams, line by line. They are compiled and not run.

enum Listings: APIService {
    static let environments: [ServiceEnvironment: String] = [.release: "https://listings.example"]
}

struct RentalEvents: EventStreamEndpoint {
    static let service = Listings.self
    var path: EndpointPath { "events" }
    var topics: Set<String>? { ["rentals"] }
}

private struct Rental: Decodable, Sendable {
    var id: Int
}

private struct PropertyReformer: Reformer {
    func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> String { rawData["title"].string ?? "" }
}

private final class RentalRows {
    func update(_ event: StreamEvent) {}
}

private func readParts(of event: StreamEvent) throws {
    let price = event.rawData["price"].double
    let rental = try event.decode(Rental.self)
    let row = try event.reform(with: PropertyReformer())
    print(price ?? 0, rental.id, row)
}

private func parse(_ response: StreamedResponse) async throws {
    var parser = EventParser()
    for try await part in response.body {
        parser.add(part)
        while let item = try parser.next() { print(item) }
    }
}

private func follow(on network: NetworkLayer) async throws {
    for try await element in network.events(of: RentalEvents()) {
        switch element {
        case .event(let event): print(event.type, event.text)
        case .continuity(let continuity): print(continuity)
        case .caughtUp: print("what follows is new")
        }
    }
}

@MainActor final class ListController: EventStreamDelegate {
    lazy var events = EventStream(RentalEvents(), on: network, delegate: self)
    func appear() { events.start() }
    func eventStream(_ stream: any EventStreaming, didReceive event: StreamEvent) { list.update(event) }
    func eventStream(_ stream: any EventStreaming, didConnect continuity: StreamContinuity) {
        if continuity != .resumed { reload() }
    }
    func eventStream(_ stream: any EventStreaming, didEndWith error: NetworkError?) {}
}

extension ListController {
    func appDidEnterBackground() { events.pause() }
    func appWillEnterForeground() { events.resume() }
}

extension ListController {
    private var list: RentalRows { RentalRows() }
    private var network: NetworkLayer { NetworkLayer(transport: StubTransport { _ in .json("{}") }) }
    private func reload() {}

    func startWithACursor(in file: URL) {
        struct RentalEvents: EventStreamEndpoint {
            static let service = Listings.self
            var path: EndpointPath { "events" }
            var topics: Set<String>? { ["rentals"] }
        }

        let cursors = FileStreamCursorStore(file: file)
        let events = EventStream(RentalEvents(), on: network, delegate: self, cursors: cursors)
        events.start()
    }
}

private struct ClientAccount: Sendable {
    var id: String
    var topics: Set<String>
    var tokenLifetime: Duration
}

private struct AccountContext: RequestContext, RemoteAddressRequestContext {
    var coreContext: CoreRequestContextStorage
    var account: ClientAccount?
    let remoteAddress: SocketAddress?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}

private func serve(_ router: Router<AccountContext>, file: URL) async throws {
    let hub = try await EventHub(name: "listings", log: SQLiteEventLog(file: file))
    EventStreamRoute(hub) { _, _ in EventPermission() }.add(to: router, path: "events")
    try await hub.publish(PublishedEvent(topic: "rentals", type: "added", data: #"{"id":7}"#))
}

private func serveAccounts(_ router: Router<AccountContext>, file: URL, json: String) async throws {
    let hub = try await EventHub(name: "listings", log: SQLiteEventLog(file: file))
    EventStreamRoute(hub) { request, context in
        guard let account = context.account else { throw HTTPError(.unauthorized) }
        return EventPermission(topics: account.topics, owner: account.id, lifetime: account.tokenLifetime)
    }.add(to: router, path: "events")
    try await hub.publish(PublishedEvent(topic: "rentals", type: "added", data: json))
}

private func serveBySource(_ router: Router<AccountContext>, hub: EventHub) {
    EventStreamRoute(hub, source: { _, context in context.remoteAddress?.ipAddress ?? "" }) { request, context in
        guard let account = context.account else { throw HTTPError(.unauthorized) }
        return EventPermission(topics: account.topics, owner: account.id, lifetime: account.tokenLifetime)
    }.add(to: router, path: "events")
}
