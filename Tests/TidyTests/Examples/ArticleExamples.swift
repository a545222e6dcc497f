import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Testing

// The examples of the DocC articles, line by line, and what shows that they do what the articles say.

enum Estate: APIService {
    static let name = "estate"
    static let environments: [ServiceEnvironment: String] = [.release: "https://estate.example"]
}

struct Homes: Endpoint {
    static let service = Estate.self
    var path: EndpointPath { "homes" }
    var city: String
}

struct Home: Endpoint {
    static let service = Estate.self
    @Unencoded var id: String
    var path: EndpointPath { "homes/\(id)" }
}

struct Offer: Endpoint {
    static let service = Estate.self
    static let method = HTTPRequest.Method.post
    static let encoding = ParameterEncoding.json()
    var path: EndpointPath { "homes/7" }
    var price: Int
}

func firstHome(in city: String, on network: NetworkLayer) async throws(NetworkError) -> RawData? {
    let list = try await network.call(Homes(city: city))
    guard let id = list["homes"][0]["id"].string else { return nil }
    return try await network.call(Home(id: id))
}

func homes(in one: String, and other: String, on network: NetworkLayer) async throws -> [RawData] {
    async let first = network.call(Homes(city: one))
    async let second = network.call(Homes(city: other))
    return try await [first, second]
}

func details(_ ids: [String], on network: NetworkLayer) async -> [String: RawData] {
    await withTaskGroup(of: (String, RawData?).self) { group in
        for id in ids {
            group.addTask { (id, try? await network.call(Home(id: id))) }
        }
        return await group.reduce(into: [:]) { found, entry in found[entry.0] = entry.1 }
    }
}

func byteCount(of id: String, on network: NetworkLayer) async throws -> Int {
    let response = try await network.stream(Home(id: id))
    var count = 0
    for try await part in response.body { count += part.count }
    return count
}

struct TenantStage: RequestStage {
    let tenant: String
    var step: FlightStep { .customStage("tenant") }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        var request = request
        guard let name = HTTPField.Name("X-Tenant") else { return try await next.send(request, in: flight) }
        request.head.headerFields[name] = tenant
        flight.note("tenant", fields: ["name": tenant], "for \(tenant)", in: step)
        return try await next.send(request, in: flight)
    }
}

struct Row {
    var title: String
    var price: Decimal?
}

func rows(from bytes: [UInt8]) throws -> [Row] {
    let document = try JSONDocument(bytes)
    let rows = document.root["data"]["list"].elements.map { item in
        Row(title: item["title"].string ?? "", price: item["price"].decimal)
    }
    return rows
}

func layer(for tenant: String, over transport: any Transport) -> NetworkLayer {
    var pipeline = RequestPipeline()
    pipeline.insert(TenantStage(tenant: tenant), before: .reading)
    return NetworkLayer(transport: transport, pipeline: pipeline)
}

struct EncryptingStage: RequestStage {
    let encrypt: @Sendable ([UInt8]) throws(NetworkError) -> [UInt8]
    var step: FlightStep { .customStage("encrypting") }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        var request = request
        switch request.body {
        case .none: break
        case .bytes(let bytes):
            request.body = .bytes(try encrypt(bytes))
            request.head.headerFields[.contentType] = "application/octet-stream"
        case .stream:
            throw NetworkError(.invalidParameters, in: step, "A stream can't be encrypted.", sending: .notSent)
        }
        return try await next.send(request, in: flight)
    }
}

func encryptingLayer(
    over transport: any Transport, encrypt: @escaping @Sendable ([UInt8]) throws(NetworkError) -> [UInt8]
) -> NetworkLayer {
    var pipeline = RequestPipeline()
    pipeline.insert(EncryptingStage(encrypt: encrypt), before: .signing)
    return NetworkLayer(transport: transport, pipeline: pipeline)
}

struct ArticleExampleTests {
    private let transport = StubTransport { request in
        switch request.head.path {
        case "/homes?city=a", "/homes?city=b": .json(#"{"homes":[{"id":"7"}]}"#)
        case "/homes/7": .json(#"{"id":"7"}"#)
        default: .json("{}", status: .notFound)
        }
    }

    @Test func aChainUsesWhatTheFirstCallBrought() async throws {
        let network = NetworkLayer(transport: transport, clock: LayerClock(ManualClock()))
        #expect(try await firstHome(in: "a", on: network)?["id"].string == "7")
        await #expect(throws: NetworkError.self) { try await firstHome(in: "nowhere", on: network) }
    }

    @Test func aDocumentBecomesRows() throws {
        let rows = try rows(from: Array(#"{"data":{"list":[{"title":"a","price":1.50},{}]}}"#.utf8))
        #expect(rows.map(\.title) == ["a", ""])
        #expect(rows.map(\.price) == [Decimal(string: "1.50"), nil])
    }

    @Test func aGroupLandsTogether() async throws {
        let network = NetworkLayer(transport: transport, clock: LayerClock(ManualClock()))
        #expect(try await homes(in: "a", and: "b", on: network).count == 2)
        #expect(await details(["7", "8"], on: network).keys.sorted() == ["7"])
        #expect(try await byteCount(of: "7", on: network) == 10)
    }

    @Test func stageOfTheAppsOwnChangesEveryRequest() async throws {
        _ = try await layer(for: "acme", over: transport).call(Home(id: "7"))
        let name = try #require(HTTPField.Name("X-Tenant"))
        #expect(transport.requests.map { $0.head.headerFields[name] } == ["acme"])
    }

    @Test func anEncryptedBodyIsWhatIsSent() async throws {
        let network = encryptingLayer(over: transport) { bytes in bytes.map { $0 ^ 0xFF } }
        _ = try await network.call(Offer(price: 7))
        let request = try #require(transport.requests.first)
        guard case .bytes(let bytes) = request.body else {
            Issue.record("the body is \(request.body)")
            return
        }
        #expect(String(decoding: bytes.map { $0 ^ 0xFF }, as: UTF8.self) == #"{"price":7}"#)
        #expect(request.head.headerFields[.contentType] == "application/octet-stream")
    }

    @Test func aLateResponseTimesOut() async throws {
        let clock = ManualClock()
        let transport = StubTransport { request async throws(NetworkError) in
            do { try await clock.sleep(until: clock.now.advanced(by: .seconds(3600))) } catch {}
            return .json("{}")
        }
        let network = NetworkLayer(transport: transport, clock: LayerClock(clock))
        let call = Task { try await network.call(Homes(city: "上海")) }
        try await clock.waitForSleepers(count: 2)
        clock.advance(by: .seconds(60))
        await #expect(throws: NetworkError.self) { try await call.value }
    }
}

func wasRetried(_ record: FlightRecord) -> Bool {
    record.decisions.contains { $0.step == .retrying && $0.name == "retried" }
}

func isRetried(_ record: FlightRecord) -> Bool {
    let isRetried = record.decisions.contains { $0.step == .retrying && $0.name == "retried" }
    return isRetried
}

struct HomesNearby: Endpoint {
    static let service = Estate.self
    static let cache = CachePolicy.timeToLive(
        .seconds(180), staleWhileRevalidate: .seconds(600), staleIfError: .seconds(86_400))
    var path: EndpointPath { "homes/nearby" }
}

struct HomeRow: Decodable { var title: String }

func titles(in city: String, on network: NetworkLayer) async throws(NetworkError) -> [String] {
    try await network.call(Homes(city: city), as: [HomeRow].self).map(\.title)
}

struct Patient: Endpoint {
    static let service = Estate.self
    static let retry = RetryPolicy(maximumAttempts: 5, longestWait: .seconds(30))
    var path: EndpointPath { "homes" }
}

@MainActor
func pulled(_ homes: APIManager<Homes>, in city: String) {
    homes.load(Homes(city: city), options: CallOptions(cacheUse: .refresh, bypassesCircuit: true))
}

func text(for error: NetworkError) -> String? {
    switch error.kind {
    case .cancelled, .loginCancelled, .needsLogin, .notCached: nil
    case .queued: "Saved. We send it when you are online."
    case .noNetwork: "No connection."
    case .timedOut: "This is taking too long."
    case .unavailable: "The service is down. Try again soon."
    case .overloaded: "The server is busy. Try again later."
    case .needsAccessToken: "Your login was not accepted. Log in again."
    case .notTrusted: "This network is not safe."
    case .storage: "This device could not store or read the data."
    case .service: error.serviceError?.message
    case .refused where error.status == .notFound: "It is not there any more."
    case .refused where error.status == .forbidden: "You may not see this."
    default: "Something went wrong."
    }
}

func refresh(_ city: String, on network: NetworkLayer, show: @escaping @MainActor (String) -> Void) {
    Task { @MainActor in
        do throws(NetworkError) {
            let homes = try await network.call(Homes(city: city), as: [HomeRow].self)
            show("\(homes.count) homes")
        } catch {
            text(for: error).map(show)
        }
    }
}
