import Foundation
import HTTPTypes
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// Where plays run that need turns of their own, and not the main actor's, which other tests need.
@globalActor
actor PlayActor {
    static let shared = PlayActor()
}

/// Calls, responses, failures, clock moves, clears, sign-outs and switches of account and environment in random order, against
/// a model of the cache.
@PlayActor
struct CacheModelTests {
    /// How many sequences are played; `RUNWAY_CACHE_SEQUENCES` asks for more.
    nonisolated static let count =
        ProcessInfo.processInfo.environment["RUNWAY_CACHE_SEQUENCES"].flatMap { Int($0) } ?? 1000

    @Test func theCacheBehavesLikeItsModel() async throws {
        for seed in Seeds.some(Self.count) {
            let play = CachePlay(seed: seed)
            let problem = await play.run()
            try #require(problem == nil, "seed \(seed): \(problem ?? "")")
        }
    }

    /// The same over files, with launches that open them again.
    @Test func theCacheOnDiskBehavesLikeTheModel() async throws {
        for seed in Seeds.some(Self.count / 10) {
            let play = CachePlay(seed: seed, disk: FolderTier())
            let problem = await play.run()
            try #require(problem == nil, "seed \(seed): \(problem ?? "")")
        }
    }
}

@PlayActor
private final class CachePlay {
    /// A call that waits for its response.
    private final class Waiting: Sendable {
        /// Guards what became of the call.
        private let state = Mutex<String?>(nil)

        var outcome: String? { state.withLock { $0 } }

        func end(_ outcome: String) { state.withLock { $0 = outcome } }
    }

    private static let policies: [CachePolicy] = [
        .timeToLive(.seconds(10)), .timeToLive(.seconds(10), staleWhileRevalidate: .seconds(15)),
        .timeToLive(.seconds(10), staleIfError: .seconds(15)),
        .timeToLive(.seconds(5), staleWhileRevalidate: .seconds(8), staleIfError: .seconds(20)), .untilEvicted(),
        .timeToLive(.seconds(5), diskLifetime: .seconds(20)), .untilEvicted(onDisk: true),
        .timeToLive(
            .seconds(3), diskLifetime: .seconds(9), staleWhileRevalidate: .seconds(8), staleIfError: .seconds(20)),
        .off,
    ]

    private var random: SeededGenerator
    private var transport = ParkingTransport()
    private var clock = ManualClock()
    private var network: NetworkLayer
    private let tier: (any CacheTier)?
    private let disk: FolderTier?
    private var model: CacheModel
    private var account: String?
    private var environment = ServiceEnvironment.release
    private var flights: [UInt64: (flight: CacheModel.Flight, waiting: Waiting)] = [:]
    private var responseCount = 0
    private var step = 0
    private var problem: String?

    /// - Parameter disk: The tier; `nil` for one in memory or none.
    init(seed: UInt64, disk: FolderTier? = nil) {
        random = SeededGenerator(seed: seed)
        let maximumCount = Int.random(in: 1...8, using: &random)
        let hasMap = Bool.random(using: &random)
        let tier: (any CacheTier)? = if let disk { disk } else if hasMap { MapTier() } else { nil }
        self.disk = disk
        model = CacheModel(maximumCount: maximumCount, hasTier: tier != nil)
        self.tier = tier
        network = Self.layer(transport, LayerClock(clock), maximumCount, tier)
        configure()
    }

    private static func layer(
        _ transport: ParkingTransport, _ clock: LayerClock, _ maximumCount: Int, _ tier: (any CacheTier)?
    ) -> NetworkLayer {
        NetworkLayer(
            transport: transport, pipeline: .tested, clock: clock,
            limits: LayerLimits(cache: CacheLimits(maximumCount: maximumCount), admission: .none, retrying: .none),
            diskCache: tier)
    }

    /// The next launch of the app, some seconds later: all calls have ended before it.
    private func restart() async {
        for flight in flights.keys.sorted() where problem == nil { await respond(flight) }
        await network.cache.flush()
        await disk?.relaunch()
        let seconds = Int.random(in: 0...9, using: &random)
        let date = network.clock.date.addingTimeInterval(Double(seconds))
        (clock, transport) = (ManualClock(), ParkingTransport())
        network = Self.layer(transport, LayerClock(clock, startingAt: date), model.maximumCount, tier)
        model.now += seconds
        model.forgetMemory()
        configure()
    }

    func run() async -> String? {
        for _ in 0..<Int.random(in: 10...40, using: &random) where problem == nil {
            step += 1
            await act()
            await network.cache.flush()
            let count = network.cache.count
            check(count == model.cached.count, "\(count) responses are stored, not \(model.cached.count)")
        }
        for flight in flights.keys.sorted() where problem == nil { await respond(flight) }
        await network.cache.flush()
        await compare(.untilEvicted())
        // What is found below comes up, so that memory is asked first.
        if model.hasTier { await compare(.untilEvicted(onDisk: true)) }
        return problem
    }

    private func act() async {
        switch Int.random(in: 0..<21, using: &random) {
        case 0..<9: await call()
        case 9: await prefetch()
        case 10..<15:
            if let flight = flights.keys.sorted().randomElement(using: &random) { await respond(flight) }
        case 15, 16:
            let seconds = Int.random(in: 1...9, using: &random)
            clock.advance(by: .seconds(seconds))
            model.now += seconds
        case 17:
            account = [nil, "ann", "bob"].randomElement(using: &random) ?? nil
            environment = [.release, .development].randomElement(using: &random) ?? .release
            configure()
        case 18: await clear()
        case 19 where model.hasTier: await restart()
        default:
            let count = Int.random(in: 0...8, using: &random)
            network.cache.trim(toCount: count)
            model.trim(toCount: count)
        }
    }

    private func configure() {
        func set(_ settings: inout ServiceSettings) {
            settings.account = account
            settings.environment = environment
            // So long that no clock move reaches it.
            settings.deadline = .seconds(86_400)
        }
        network.configure(Gallery.self, set)
        network.configure(Library.self, set)
    }

    private func anyKey() -> ModelKey {
        ModelKey(
            api: ModelKey.API.allCases.randomElement(using: &random) ?? .work,
            id: Int.random(in: 1...2, using: &random),
            account: account, environment: environment)
    }

    private func endpoint(_ key: ModelKey) -> any Endpoint {
        switch key.api {
        case .work: Work(id: key.id)
        case .artist: Artist(id: key.id)
        case .book: Book(id: key.id)
        }
    }

    private func call() async {
        let key = anyKey()
        let policy = Self.policies.randomElement(using: &random) ?? .off
        let use: CacheUse =
            [.standard, .standard, .standard, .refresh, .onlyIfCached].randomElement(using: &random) ?? .standard
        let (prediction, flight) = model.call(key, policy, use, isFetchedAlready: isFetched(key))
        let before = Set(transport.parked)
        let waiting = Waiting()
        let (endpoint, network) = (endpoint(key), network)
        Task { waiting.end(await Self.outcome(of: endpoint, on: network, .policy(policy, use))) }
        await settle("a call of \(key)") { waiting.outcome != nil || !before.isSuperset(of: transport.parked) }
        switch prediction {
        case .cached(let outcome):
            check(waiting.outcome == outcome, "\(waiting.outcome ?? "in flight"), not \(outcome)")
        case .cachedAndSent(let outcome):
            await settle("a revalidation") {
                waiting.outcome != nil && !before.isSuperset(of: transport.parked)
            }
            check(waiting.outcome == outcome, "\(waiting.outcome ?? "in flight"), not \(outcome)")
        case .sent: check(waiting.outcome == nil, "\(waiting.outcome ?? ""), but it should be in flight")
        }
        settleStart(flight, waiting, besides: before)
    }

    private func prefetch() async {
        let key = anyKey()
        let policy = Self.policies[Int.random(in: 0..<Self.policies.count - 1, using: &random)]
        let (_, flight) = model.call(key, policy, .standard, isFetchedAlready: isFetched(key), isPrefetch: true)
        let before = Set(transport.parked)
        let background = network.cache.background
        let flightsBefore = background.count
        func start<E: Endpoint>(_ endpoint: E) { network.prefetch(endpoint, options: .policy(policy)) }
        start(endpoint(key))
        // It starts, or ends: at once, or when it has found a fresh response in the tier.
        await settle("a prefetch") {
            !before.isSuperset(of: transport.parked) || background.count == flightsBefore
        }
        settleStart(flight, Waiting(), besides: before)
    }

    private func settleStart(_ flight: CacheModel.Flight?, _ waiting: Waiting, besides before: Set<UInt64>) {
        let new = Set(transport.parked).subtracting(before)
        check(new.count == (flight == nil ? 0 : 1), "\(new.count) requests started")
        guard let flight, let number = new.first else { return }
        flights[number] = (flight, waiting)
        let condition = transport.request(of: number)?.head.headerFields[.ifNoneMatch]
        let expected = flight.validated.map { "\"\($0)\"" }
        check(condition == expected, "\(condition ?? "no validator") was sent, not \(expected ?? "none")")
    }

    private func isFetched(_ key: ModelKey) -> Bool {
        flights.values.contains { $0.flight.isBackground && $0.flight.key == key }
    }

    private func respond(_ number: UInt64) async {
        guard let (flight, waiting) = flights.removeValue(forKey: number) else { return }
        responseCount += 1
        let kind = Int.random(in: 0..<8, using: &random)
        let isNotModified = flight.validated != nil && Bool.random(using: &random)
        let response: CacheModel.ServerResponse =
            switch kind {
            case 4... where isNotModified: .notModified
            case 0: .refusedByTheEndpoint
            case 1: .serverError
            case 2: .notFound
            case 3: .noNetwork
            default: .number(responseCount)
            }
        // Artists and books accept everything.
        let isAccepted = kind == 0 && flight.key.api != .work
        let expected = model.land(flight, isAccepted ? .notFound : response)
        let result: Result<Response, NetworkError> =
            switch response {
            case .number(let number): .success(.numbered(number))
            case .notModified: .success(Response(head: HTTPResponse(status: .notModified), body: .whole(RawData([]))))
            case .refusedByTheEndpoint:
                .success(isAccepted ? .json("{}", status: .notFound) : .json(#"{"bad":1}"#))
            case .serverError: .success(.json("{}", status: .internalServerError))
            case .notFound: .success(.json("{}", status: .notFound))
            case .noNetwork: .failure(NetworkError(.noNetwork, in: .transporting, "gone"))
            }
        let background = network.cache.background
        let flightsBefore = background.count
        transport.respond(number, with: result)
        if flight.isBackground {
            await settle("the end of a flight of the layer") { background.count < flightsBefore }
        } else {
            await settle("a landing") { waiting.outcome != nil }
            check(waiting.outcome == expected, "\(waiting.outcome ?? "nothing") landed, not \(expected)")
        }
    }

    private func clear() async {
        let scopes: [CacheScope] = [
            .everything, .service("gallery"), .service("library"), .endpoint("Work", service: "gallery"),
            .account("ann", service: nil), .account("bob", service: "gallery"),
        ]
        let scope = scopes.randomElement(using: &random) ?? .everything
        model.clear(scope)
        network.cache.clear(scope)
        for (number, flight) in flights where flight.flight.isBackground && flight.flight.key.isIn(scope) {
            flights[number] = nil
            await settle("a cancelled flight of the layer") { !transport.parked.contains(number) }
        }
    }

    /// Looks up every response that could be stored, without a request.
    private func compare(_ policy: CachePolicy) async {
        for account in [nil, "ann", "bob"] as [String?] {
            for environment in [ServiceEnvironment.release, .development] where problem == nil {
                (self.account, self.environment) = (account, environment)
                configure()
                for api in ModelKey.API.allCases {
                    for id in 1...2 {
                        let key = ModelKey(api: api, id: id, account: account, environment: environment)
                        let outcome = await Self.outcome(
                            of: endpoint(key), on: network, .policy(policy, .onlyIfCached))
                        let (expected, _) = model.call(key, policy, .onlyIfCached, isFetchedAlready: false)
                        check(.cached(outcome) == expected, "\(outcome) is stored for \(key), not \(expected)")
                    }
                }
            }
        }
    }

    private static func outcome(of endpoint: any Endpoint, on network: NetworkLayer, _ options: CallOptions) async
        -> String
    {
        do throws(NetworkError) {
            let rawData = try await network.call(endpoint, options: options)
            return "\(rawData.source) \(rawData["n"].int ?? 0)"
        } catch {
            return error.kind.name
        }
    }

    /// Waits until `condition` holds; if it does not, that is the problem.
    private func settle(_ subject: String, until condition: () -> Bool) async {
        do { try await waitUntil(subject) { problem != nil || condition() } } catch { check(false, "\(error)") }
    }

    private func check(_ condition: Bool, _ text: @autoclosure () -> String) {
        if !condition, problem == nil { problem = "step \(step): \(text())" }
    }
}

extension Response {
    /// A response with a number, and with an entity tag if the model has one.
    fileprivate static func numbered(_ number: Int) -> Response {
        var response = Response.json(#"{"n":\#(number)}"#)
        if CacheModel.hasTag(number) { response.head.headerFields[.eTag] = "\"\(number)\"" }
        return response
    }
}
