import Foundation
import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// The methods of changes.
private protocol ChangeMethod: Sendable { static var method: HTTPRequest.Method { get } }
private enum Post: ChangeMethod { static let method = HTTPRequest.Method.post }
private enum Put: ChangeMethod { static let method = HTTPRequest.Method.put }
private enum Patch: ChangeMethod { static let method = HTTPRequest.Method.patch }
private enum Delete: ChangeMethod { static let method = HTTPRequest.Method.delete }
private enum Get: ChangeMethod { static let method = HTTPRequest.Method.get }

/// A change of works, which every artist shows, too.
private struct Change<Method: ChangeMethod>: Endpoint {
    static var service: Gallery.Type { Gallery.self }
    static var method: HTTPRequest.Method { Method.method }
    static var retry: RetryPolicy { .off }
    var path: EndpointPath { "change" }
    @Unencoded var works = [1]
    @Unencoded var isRefusing = false
    var invalidates: [CacheInvalidation] { works.map { .call(Work(id: $0)) } + [.endpoint(Artist.self)] }
    func validate(response: RawData) throws { if isRefusing { throw Refused("It is refused.") } }
}

/// A call whose parameters can't be encoded, and a change that names it.
private struct Unreadable: Endpoint {
    static let service = Gallery.self
    static let cache = CachePolicy.untilEvicted()
    var path: EndpointPath { "works" }
    @Unencoded var isReadable = true
    var parameters: Parameters { get throws { if isReadable { [:] } else { throw Refused("There are none.") } } }
}

private struct ChangeOfUnreadable: Endpoint {
    static let service = Gallery.self
    static let method = HTTPRequest.Method.delete
    var path: EndpointPath { "change" }
    var invalidates: [CacheInvalidation] { [.call(Unreadable(isReadable: false))] }
}

private struct ChangeOfService: Endpoint {
    static let service = Library.self
    static let method = HTTPRequest.Method.post
    var path: EndpointPath { "change" }
    var invalidates: [CacheInvalidation] { [.service(Gallery.self)] }
}

/// A change of a service with access tokens, with a second attempt.
private struct ChangeOfMembers: Endpoint {
    static let service = Club.self
    static let method = HTTPRequest.Method.put
    static let retry = RetryPolicy(maximumAttempts: 2, baseWait: .zero)
    var path: EndpointPath { "change" }
    var invalidates: [CacheInvalidation] { [.endpoint(Work.self)] }
}

/// How a change ends, and whether it may have taken effect.
struct ChangeEnd: Sendable, CustomTestStringConvertible {
    let result: Result<Response, NetworkError>
    let mayHaveTakenEffect: Bool
    let testDescription: String

    static func status(_ code: Int, _ mayHaveTakenEffect: Bool) -> ChangeEnd {
        ChangeEnd(
            result: .success(.json("{}", status: HTTPResponse.Status(code: code))),
            mayHaveTakenEffect: mayHaveTakenEffect, testDescription: "\(code)")
    }

    static func error(_ kind: NetworkError.Kind, _ sending: SendState, _ mayHaveTakenEffect: Bool) -> ChangeEnd {
        ChangeEnd(
            result: .failure(NetworkError(kind, in: .transporting, "gone", sending: sending)),
            mayHaveTakenEffect: mayHaveTakenEffect, testDescription: "\(kind), \(sending)")
    }

    static let all =
        [200, 201, 204, 500, 502, 503, 504].map { status($0, true) }
        + [400, 401, 403, 404, 408, 409, 412, 422, 429].map { status($0, false) }
        + [
            error(.noNetwork, .notSent, false), error(.noNetwork, .sent, true), error(.noNetwork, .unknown, true),
            error(.timedOut, .notSent, false), error(.timedOut, .unknown, true), error(.notTrusted, .unknown, false),
            error(.invalidResponse, .sent, true),
        ]
}

/// What a change removes from the cache, by what its endpoint says.
@Suite(.timeLimit(.minutes(5)))
struct InvalidationTests {
    private func isStored<E: Endpoint>(_ endpoint: E, in network: NetworkLayer, _ options: CallOptions = .standard)
        async
        -> Bool
    {
        var options = options
        options.cacheUse = .onlyIfCached
        return (try? await network.call(endpoint, options: options)) != nil
    }

    /// A layer that has stored two works, an artist and a book.
    private func filled() async throws -> CachedLayer {
        let layer = CachedLayer()
        for id in 1...2 { _ = try await layer.network.call(Work(id: id)) }
        _ = try await layer.network.call(Artist())
        _ = try await layer.network.call(Book())
        return layer
    }

    private func expectInvalidation(_ isExpected: Bool = true, in layer: CachedLayer) async {
        #expect(await isStored(Work(id: 1), in: layer.network) == !isExpected)
        #expect(await isStored(Artist(), in: layer.network) == !isExpected)
        #expect(await isStored(Work(id: 2), in: layer.network), "what it does not name stays")
        #expect(await isStored(Book(), in: layer.network))
    }

    @Test func everyMethodOfAChangeInvalidates() async throws {
        func check<Method: ChangeMethod>(_ change: Change<Method>, _ isExpected: Bool) async throws {
            let layer = try await filled()
            _ = try await layer.network.call(change)
            await expectInvalidation(isExpected, in: layer)
        }
        try await check(Change<Post>(), true)
        try await check(Change<Put>(), true)
        try await check(Change<Patch>(), true)
        try await check(Change<Delete>(), true)
        try await check(Change<Get>(), false)
    }

    @Test(arguments: ChangeEnd.all)
    func aFailureInvalidatesOnlyWhatMayHaveChanged(end: ChangeEnd) async throws {
        let layer = try await filled()
        layer.server.respond(with: end.result)
        _ = try? await layer.network.call(Change<Put>())
        await expectInvalidation(end.mayHaveTakenEffect, in: layer)
    }

    @Test func aRejectedResponseOfAChangeInvalidates() async throws {
        let layer = try await filled()
        #expect(await layer.failure(Change<Post>(isRefusing: true))?.kind == .invalidResponse)
        await expectInvalidation(in: layer)
    }

    @Test func anEarlierAttemptMayHaveTakenEffect() async throws {
        let attempts = Counter()
        let clock = ManualClock()
        let transport = StubTransport { request throws(NetworkError) in
            if request.head.method == .get { return .json("{}") }
            return .json("{}", status: attempts.next() == 0 ? .serviceUnavailable : .notFound)
        }
        let network = NetworkLayer(transport: transport, pipeline: .tested, clock: LayerClock(clock))
        _ = try await network.call(Work())
        let options = CallOptions(retry: .standard, deadline: .seconds(86_400))
        let change = Task { try await network.call(Change<Delete>(), options: options) }
        try await waitUntil("the second attempt") {
            transport.requests.count == 3
        } meanwhile: {
            clock.advance(by: .seconds(1))
        }
        await #expect(throws: NetworkError.self) { try await change.value }
        #expect(await !isStored(Work(), in: network), "the first DELETE may have removed what the second did not find")
    }

    @Test func changeWhoseRetryHasNoTokenInvalidates() async throws {
        let clock = ManualClock()
        let transport = StubTransport { request throws(NetworkError) in
            if request.head.path == "/token" { return .json("{}", status: .badRequest) }
            if request.head.method == .get { return .json("{}") }
            // The token expires meanwhile.
            clock.advance(by: .seconds(600))
            throw NetworkError(.noNetwork, in: .transporting, "The connection was lost.", sending: .sent)
        }
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(clock), limits: LayerLimits(admission: .none))
        network.configure(Club.self) { $0.deadline = .seconds(1000) }
        let expiry = network.clock.date.addingTimeInterval(500)
        try await network.signIn(AccessToken("t1", account: "ann", expiry: expiry, refreshToken: "r1"), to: Club.self)
        let untilEvicted = CallOptions.policy(.untilEvicted())
        _ = try await network.call(Work(), options: untilEvicted)
        let error = await #expect(throws: NetworkError.self) { try await network.call(ChangeOfMembers()) }
        #expect(error?.kind == .needsLogin && error?.step == .authorizing)
        #expect(transport.requests.map(\.head.method) == [.get, .put, .post])
        #expect(await !isStored(Work(), in: network, untilEvicted), "the first attempt may have taken effect")
    }

    @Test func anErrorOfTheServiceInvalidatesNothing() async throws {
        let network = NetworkLayer(
            transport: StubTransport { request throws(NetworkError) in
                .json(request.head.method == .get ? #"{"code":0}"# : #"{"code":7}"#)
            }, pipeline: .tested)
        _ = try await network.call(Drawer())
        await #expect(throws: NetworkError.self) { try await network.call(DrawerChange()) }
        #expect(await isStored(Drawer(), in: network))
    }

    @Test func readBegunBeforeTheChangeIsNotStored() async throws {
        let layer = ParkedLayer()
        let reads = [Work(id: 1), Work(id: 2)].map { work in Task { try await layer.network.call(work) } }
        try await layer.transport.wait { $0.parked.count == 2 }
        let early = layer.transport.parked
        async let change = layer.network.call(Change<Put>())
        let changing = try await layer.arrival(besides: early)
        // It begins while the change is in flight, and may see the state before it.
        async let during = layer.network.call(Artist())
        let meanwhile = try await layer.arrival(besides: early + [changing])
        layer.respond(changing, 0)
        _ = try await change
        for flight in early + [meanwhile] { layer.respond(flight, 1) }
        for read in reads { #expect(try await read.value["n"].int == 1, "it lands all the same") }
        _ = try await during
        let isSecondStored = await isStored(Work(id: 2), in: layer.network)
        #expect(layer.network.cache.count == 1 && isSecondStored)
        try await layer.fill(2)
        #expect(layer.network.cache.count == 2, "a read after the change is stored")
    }

    @Test func readAfterTheChangeJoinsNoEarlierOne() async throws {
        let layer = ParkedLayer()
        async let early = layer.network.call(Search(text: "a"))
        let first = try await layer.arrival()
        async let change = layer.network.call(ChangeOfService())
        let changing = try await layer.arrival(besides: [first])
        layer.respond(changing, 0)
        _ = try await change
        async let late = layer.network.call(Search(text: "a"))
        let second = try await layer.arrival(besides: [first, changing])
        layer.respond(first, 1)
        layer.respond(second, 2)
        let numbers = try await [early["n"].int, late["n"].int]
        #expect(numbers == [1, 2])
        #expect(layer.network.cache.count == 1)
    }

    @MainActor
    @Test func itIsInvalidatedWhenTheDelegateIsNotified() async throws {
        let layer = try await filled()
        let observer = SuccessObserver(layer.network)
        let manager = APIManager<Change<Put>>(on: layer.network, delegate: observer)
        manager.load(Change())
        try await waitUntil { observer.remaining != nil }
        #expect(observer.remaining == 2)
    }

    @MainActor
    @Test func changeCancelledAfterItWasSentInvalidates() async throws {
        let layer = ParkedLayer()
        try await layer.fill(1)
        let manager = APIManager<Change<Put>>(on: layer.network)
        let flight = manager.load(Change())
        try await layer.transport.waitForArrival(of: flight)
        #expect(layer.network.cache.count == 1)
        manager.cancelAll()
        #expect(layer.network.cache.count == 0, "at once")
        let record = try await layer.records.records(count: 2).first { $0.id == flight }
        #expect(record?.decisions(of: CacheDecision.self).first == .invalidated(count: 1, isCertain: false))
    }

    @Test func changeCancelledBeforeItWasSentInvalidatesNothing() async throws {
        let layer = try await filled()
        let sent = layer.server.requestCount
        let change = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await layer.network.call(Change<Put>())
        }
        await #expect(throws: NetworkError.self) { try await change.value }
        #expect(layer.server.requestCount == sent)
        await expectInvalidation(false, in: layer)
    }

    @Test func aChangeThatTimesOutInvalidatesAtOnce() async throws {
        let layer = ParkedLayer()
        try await layer.fill(1)
        let change = Task { try await layer.network.call(Change<Put>()) }
        _ = try await layer.arrival()
        layer.clock.advance(by: .seconds(3600))
        await #expect(throws: NetworkError.self) { try await change.value }
        #expect(layer.network.cache.count == 0)
    }

    @Test func callIsFoundInTheChangesAccount() async throws {
        let layer = ParkedLayer()
        layer.network.configure(Gallery.self) { $0.account = "ann" }
        try await layer.fill(1)
        async let change = layer.network.call(Change<Put>())
        let changing = try await layer.arrival()
        layer.network.configure(Gallery.self) { $0.account = "bob" }
        async let reading = layer.network.call(Work())
        let read = try await layer.arrival(besides: [changing])
        layer.respond(read, 2)
        _ = try await reading
        #expect(layer.network.cache.count == 2)
        layer.respond(changing, 0)
        _ = try? await change
        #expect(layer.network.cache.count == 1)
        #expect(await isStored(Work(), in: layer.network), "what Bob sees stays")
    }

    @Test func aServiceMayNameThatOfAnother() async throws {
        let layer = try await filled()
        _ = try await layer.network.call(ChangeOfService())
        #expect(layer.network.cache.count == 1)
        #expect(await isStored(Book(), in: layer.network))
    }

    @Test func callWithoutARequestStandsForItsEndpoint() async throws {
        let layer = CachedLayer()
        _ = try await layer.network.call(Unreadable())
        _ = try await layer.network.call(Work())
        _ = try await layer.network.call(ChangeOfUnreadable())
        #expect(layer.network.cache.count == 1)
        #expect(await isStored(Work(), in: layer.network))
    }

    @Test(arguments: [
        CachePolicy.timeToLive(.seconds(60), diskLifetime: .seconds(600)), .untilEvicted(onDisk: true),
        .http(onDisk: true),
    ])
    func itIsRemovedFromDiskToo(policy: CachePolicy) async throws {
        let tier = MapTier()
        let layer = CachedLayer(diskCache: tier)
        var stored = Response.json("{}")
        stored.head.headerFields[.cacheControl] = "max-age=600"
        layer.server.respond(with: .success(stored))
        for id in 1...3 { _ = try await layer.network.call(Work(id: id), options: .policy(policy)) }
        await layer.network.cache.flush()
        #expect(tier.count == 3)
        var change = Change<Patch>()
        change.works = [1, 3]
        _ = try await layer.network.call(change)
        await layer.network.cache.flush()
        // Of the service's HTTP responses nobody knows the endpoint, and the change names one.
        #expect(tier.count == (policy == .http(onDisk: true) ? 0 : 1))
    }

    @Test func underHTTPACallIsItsTarget() async throws {
        let layer = CachedLayer()
        var stored = Response.json("{}")
        stored.head.headerFields[.cacheControl] = "max-age=600"
        layer.server.respond(with: .success(stored))
        for id in 1...2 { _ = try await layer.network.call(Work(id: id), options: .policy(.http())) }
        _ = try await layer.network.call(ChangeOfOne())
        #expect(await !isStored(Work(id: 1), in: layer.network, .policy(.http())))
        #expect(await isStored(Work(id: 2), in: layer.network, .policy(.http())))
    }

    @Test func uploadsAndStreamsInvalidateToo() async throws {
        var layer = try await filled()
        _ = try await layer.network.upload(Change<Post>())
        await expectInvalidation(in: layer)
        layer = try await filled()
        _ = try await layer.network.stream(Change<Post>())
        await expectInvalidation(in: layer)
    }
}

/// A change of one work alone.
private struct ChangeOfOne: Endpoint {
    static let service = Gallery.self
    static let method = HTTPRequest.Method.put
    var path: EndpointPath { "change" }
    var invalidates: [CacheInvalidation] { [.call(Work(id: 1))] }
}

/// A service that reports its errors with the status 200.
private enum Cabinet: APIService {
    static let environments: [ServiceEnvironment: String] = [.release: "https://cabinet.test"]
    static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
        rawData?["code"].int == 0 ? .fine : .failed(ServiceError(code: "7"), isAbsorbed: false)
    }
}

private struct Drawer: Endpoint {
    static let service = Cabinet.self
    static let cache = CachePolicy.timeToLive()
    var path: EndpointPath { "drawer" }
}

private struct DrawerChange: Endpoint {
    static let service = Cabinet.self
    static let method = HTTPRequest.Method.put
    var path: EndpointPath { "drawer" }
    var invalidates: [CacheInvalidation] { [.endpoint(Drawer.self)] }
}

/// Counts what is stored when a success lands.
@MainActor
private final class SuccessObserver: APIManagerDelegate {
    private let network: NetworkLayer
    var remaining: Int?

    init(_ network: NetworkLayer) { self.network = network }

    func apiManagerDidSucceed(_ manager: any APIManaging) { remaining = network.cache.count }
    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) {}
}
