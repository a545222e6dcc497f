import AsyncHTTPClient
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import RunwayServer
import RunwaySyncCore
import RunwaySyncSimulator
import Synchronization
import Testing

/// Sends requests to a space of a server, over sockets.
struct SyncClient: Sendable {
    let port: Int
    var space = "00000000-0000-0000-0000-00000000000a"
    var subject: String? = "ada"

    struct Reply: Equatable {
        let status: Int
        let text: String
    }

    func send(_ wire: WireRequest) async throws -> (reply: Reply, body: [UInt8], retryAfter: String?) {
        let query = wire.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/sync/\(space)/\(wire.name)?\(query)")
        if wire.method == .post {
            request.method = .POST
            request.body = .bytes(ByteBuffer(bytes: wire.body))
        }
        if let subject { request.headers.add(name: "Subject", value: subject) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(120))
        let body = Array(try await response.body.collect(upTo: 64 << 20).readableBytesView)
        let reply = Reply(status: Int(response.status.code), text: String(decoding: body, as: UTF8.self))
        return (reply, body, response.headers.first(name: "Retry-After"))
    }

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        let (reply, body, _) = try await send(request.wire)
        return try SyncResponse(WireResponse(status: reply.status, body: body), to: request)
    }

    /// Pushes raw bytes.
    func push(_ text: String) async throws -> Reply {
        try await send(WireRequest(method: .post, name: "push", body: Array(text.utf8))).reply
    }

    func push(_ transactions: Transaction..., from device: Identifier) async throws -> SyncResponse {
        try await send(.push(Packet(device: device, transactions: transactions)))
    }

    /// The head of the log.
    func head() async throws -> Int64 {
        let request = PullRequest(device: Identifier(high: 9, low: 9), cursor: .none, offset: 0)
        guard case .page(let page) = try await send(.pull(request)) else { return -1 }
        return page.head
    }

    /// Serves a service while `body` runs. The field `Subject` names the subject.
    static func serve<Value>(
        _ service: SyncService, _ body: (SyncClient) async throws -> Value
    ) async throws -> Value {
        let router = Router()
        SyncRouter(service) { request, _ in
            guard let subject = HTTPField.Name("Subject").flatMap({ request.headers[$0] }) else {
                throw HTTPError(.unauthorized)
            }
            return subject
        }.add(to: router)
        return try await serving(router) { try await body(SyncClient(port: $0)) }
    }
}

/// A device of the core, with its tables in memory, whose requests go over sockets.
struct SyncedDevice {
    var file: MemoryDeviceStore
    var process = SyncDevice(ConflictPolicies())
    var random: SeededRandom
    let client: SyncClient

    init(_ number: UInt64, _ client: SyncClient) {
        file = MemoryDeviceStore(device: Identifier(high: 5, low: number))
        random = SeededRandom(seed: number)
        self.client = client
    }

    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    mutating func write(_ values: Columns<SyncValue>?, _ row: UInt64) throws {
        try file.write([(RowKey("note", Identifier(high: 1, low: row)), values)], at: Self.now)
    }

    /// Runs a cycle. Stops if the server asks for a pause.
    mutating func sync() async throws {
        var effects = try process.handle(.prompted, at: Self.now, in: &file, using: &random)
        while let send = effects.lazy.compactMap(\.request).first {
            let response = try await client.send(send.request)
            effects = try process.handle(
                .received(response, exchange: send.exchange), at: Self.now, in: &file, using: &random)
        }
    }
}

extension SyncDevice.Effect {
    fileprivate var request: (request: SyncRequest, exchange: Int64)? {
        if case .send(let request, let exchange) = self { (request, exchange) } else { nil }
    }
}

extension Transaction {
    /// An insert of a row, under a number of the device's chain.
    static func insert(
        _ number: UInt64, of device: UInt64 = 1, row: UInt64? = nil, _ values: Columns<SyncValue> = ["a": .null]
    ) -> Transaction {
        func id(_ number: UInt64) -> Identifier { Identifier(high: 100 + device, low: number) }
        let key = RowKey("note", Identifier(high: 1, low: row ?? number))
        return Transaction(
            number: Int64(number), previous: number > 1 ? id(number - 1) : nil, time: HybridTime(milliseconds: 1),
            basis: Basis(epoch: Identifier(high: 0, low: 0), number: 0),
            operations: [Operation(id: id(number), action: .insert(key, life: 1, values))])
    }
}
