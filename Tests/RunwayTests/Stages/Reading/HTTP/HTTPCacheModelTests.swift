import Foundation
import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// Reads that vary, changes, sign-ins, sign-outs, clears, failures and moves of the clock in random order, one after the other,
/// against a model of a cache by RFC 9111. ``HTTPFreshnessModelTests`` covers the initial age of responses.
@Suite(.timeLimit(.minutes(10)))
struct HTTPCacheModelTests {
    /// How many sequences are played; `RUNWAY_CACHE_SEQUENCES` asks for more.
    static let count = ProcessInfo.processInfo.environment["RUNWAY_CACHE_SEQUENCES"].flatMap { Int($0) } ?? 1000

    @Test func readsOfEveryAccountMatchTheModel() async throws {
        for seed in Seeds.some(Self.count) {
            await Task.yield()
            var play = HTTPCachePlay(seed: seed, tier: nil)
            let problem = try await play.run()
            try #require(problem == nil, "seed \(seed): \(problem ?? "")")
        }
    }
}

extension HTTPCacheModelTests {
    @Test func storedResponsesOutliveLaunches() async throws {
        for seed in Seeds.some(Self.count) {
            await Task.yield()
            var play = HTTPCachePlay(seed: seed, tier: MapTier())
            let problem = try await play.run()
            try #require(problem == nil, "seed \(seed): \(problem ?? "")")
        }
    }

    @Test func responsesOnDiskOutliveLaunches() async throws {
        for seed in Seeds.some(Self.count / 10) {
            await Task.yield()
            let disk = FolderTier()
            var play = HTTPCachePlay(seed: seed, tier: disk, disk: disk)
            let problem = try await play.run()
            try #require(problem == nil, "seed \(seed): \(problem ?? "")")
        }
    }
}

private struct HTTPCachePlay {
    private typealias Model = HTTPCacheModel

    private var random: SeededGenerator
    private var cached: HTTPCachedLayer
    private let hasTier: Bool
    private let disk: FolderTier?
    private var model = Model(maximumVariants: CacheLimits().maximumHTTPVariants)
    private var account: String?
    private var responseCount = 0

    init(seed: UInt64, tier: (any CacheTier)?, disk: FolderTier? = nil) {
        self.disk = disk
        random = SeededGenerator(seed: seed)
        cached = tier.map { HTTPCachedLayer(diskCache: $0) } ?? HTTPCachedLayer(isInProcess: true)
        hasTier = tier != nil
    }

    mutating func run() async throws -> String? {
        for step in 1...number(10...40) {
            if let problem = try await act() { return "step \(step): \(problem)" }
            let count = cached.network.cache.count
            // With a disk below, memory may hold a part.
            if hasTier ? count > model.stored.count : count != model.stored.count {
                return "step \(step): \(count) responses are stored, not \(model.stored.count)"
            }
        }
        return nil
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    private mutating func chance(_ one: Int) -> Bool { number(1...one) == 1 }
    private mutating func pick<Choice>(_ choices: Choice...) -> Choice { choices[number(0...choices.count - 1)] }

    private mutating func act() async throws -> String? {
        if hasTier, chance(8) { return try await forget() }
        switch number(1...20) {
        case 1...12: return try await read()
        case 13, 14: return await change()
        case 15, 16:
            let seconds = number(1...20)
            model.now += seconds
            cached.advance(Double(seconds))
        case 17, 18:
            let name = pick("ann", "bob")
            account = name
            try await cached.network.signIn(AccessToken("token of \(name)", account: name), to: Library.self)
        case 19:
            // Who is not signed in signs nobody out.
            if let account { model.clear(account) }
            account = nil
            try await cached.network.signOut(of: Library.self)
        default: clear()
        }
        return nil
    }

    /// The next launch of the app, or memory that the system wants back.
    private mutating func forget() async throws -> String? {
        if chance(3) {
            cached.network.cache.relieveMemory(isCritical: true)
            return nil
        }
        let seconds = number(0...5)
        model.now += seconds
        await cached.network.cache.flush()
        await disk?.relaunch()
        cached = await cached.nextLaunch(after: Double(seconds))
        if let account {
            try await cached.network.signIn(AccessToken("token of \(account)", account: account), to: Library.self)
        }
        return nil
    }

    private mutating func read() async throws -> String? {
        var asked = Model.Asked(target: pick("/a", "/b"), owner: "", fields: [:])
        asked.fields[.acceptLanguage] = pick(nil, "de", "fr")
        asked.fields[.accept] = pick(nil, "text/html", "text/plain")
        // The owner is the account together with the credentials that the caller sets itself.
        asked.fields[.authorization] = pick(nil, nil, "Basic Y2FybDo=")
        asked.owner = account ?? "nobody"
        let wish: Model.Wish = chance(2) ? .nothing : pick(.nothing, .noCache, .noStore, .refresh, .onlyStored)
        let course = model.course(of: asked, wish)
        let candidates = wish == .refresh ? [] : model.candidates(for: asked)
        let response = course.isFetched ? script(asked, candidates) : nil

        let sentBefore = cached.sent
        let found = await outcome(of: asked, wish)
        try await waitUntil { cached.network.cache.background.count == 0 }

        let sent = cached.sent - sentBefore
        if sent != (response == nil ? 0 : 1) { return "\(sent) requests were sent for \(asked), \(wish)" }
        if response != nil {
            let tags = Set((cached.last[.ifNoneMatch] ?? "").split(separator: ", ").map { String($0) })
            let expected = Set(candidates.filter(\.hasTag).map { "\"\($0.number)\"" })
            if tags != expected { return "\(tags) were to be validated, not \(expected)" }
        }
        let landed = response.map { model.land(asked, wish, $0) }
        let expected: String? =
            switch course {
            case .given(let text), .givenAndFetched(let text): text
            case .fetched: landed
            }
        return found == expected ? nil : "\(found) for \(asked), \(wish), not \(expected ?? "nothing")"
    }

    private mutating func outcome(of asked: Model.Asked, _ wish: Model.Wish) async -> String {
        var fields = HTTPFields()
        for (name, value) in asked.fields { fields[name] = value }
        // A number of the request, as tracing adds it, under any name.
        if random.next() % 2 == 0, let name = HTTPField.Name("X-\(UInt16(truncatingIfNeeded: random.next()))") {
            fields[name] = "\(random.next())"
        }
        if wish == .noCache { fields[.cacheControl] = "no-cache" }
        if wish == .noStore { fields[.cacheControl] = "no-store" }
        let use: CacheUse = wish == .refresh ? .refresh : wish == .onlyStored ? .onlyIfCached : .standard
        do throws(NetworkError) {
            let response = try await cached.send(asked.target, fields, use: use)
            return "\(response.source) \(response.text ?? "")"
        } catch {
            return error.kind.name
        }
    }

    /// Sets the next response of the origin.
    private mutating func script(_ asked: Model.Asked, _ candidates: [Model.Stored]) -> Model.ModelResponse {
        // A date is sent as a condition only if it can refer to one response alone.
        let validated = candidates.filter { $0.hasTag || candidates.count == 1 && $0.modified != nil }
        switch number(1...10) {
        case 1:
            cached.respond("error", status: .internalServerError)
            return .serverError
        case 2:
            cached.fail()
            return .noNetwork
        case 3...7 where !validated.isEmpty:
            let confirmed = validated[number(0...validated.count - 1)]
            var terms = anyTerms()
            terms.maxAge = number(0...40)
            var fields: HTTPFields = [.cacheControl: terms.text]
            if confirmed.hasTag { fields[.eTag] = "\"\(confirmed.number)\"" }
            if !confirmed.hasTag || chance(2) { fields[.lastModified] = confirmed.modified.map { date($0) } }
            cached.respond("", status: .notModified, fields)
            return .notModified(confirmed.number, terms)
        default:
            responseCount += 1
            var new = Model.Stored(
                number: responseCount, asked: asked, terms: anyTerms(), vary: [], hasTag: chance(2), modified: nil,
                received: model.now)
            new.vary = pick([], [.acceptLanguage], [.accept], [.accept, .acceptLanguage], chance(3) ? nil : [])
            if chance(3) { new.modified = model.now - 10 * number(0...30) }
            var fields = HTTPFields()
            if !new.terms.text.isEmpty { fields[.cacheControl] = new.terms.text }
            if new.vary != [] { fields[.vary] = new.vary?.map(\.rawName).joined(separator: ", ") ?? "*" }
            if new.hasTag { fields[.eTag] = "\"\(new.number)\"" }
            fields[.lastModified] = new.modified.map { date($0) }
            cached.respond("\(new.number)", status: pick(.ok, .ok, .notFound), fields)
            return .full(new)
        }
    }

    /// A second of the model as the origin writes it.
    private func date(_ second: Int) -> String { cached.date(Int64(second - model.now)) }

    private mutating func anyTerms() -> Model.Terms {
        Model.Terms(
            maxAge: chance(4) ? nil : number(0...40), isNoCache: chance(8), isNoStore: chance(8),
            mustRevalidate: chance(5), staleWhileRevalidate: chance(3) ? number(0...30) : nil,
            staleIfError: chance(3) ? number(0...30) : nil)
    }

    private mutating func change() async -> String? {
        let target = pick("/a", "/b")
        var targets: Set = [target]
        var fields = HTTPFields()
        if chance(3) {
            let other = pick("/a", "/b")
            let name: HTTPField.Name = pick(.location, .contentLocation)
            fields[name] = other
            targets.insert(other)
        }
        switch number(1...5) {
        case 1:
            cached.respond("refused", status: pick(.conflict, .notFound, .internalServerError), fields)
            targets = []
        case 2:
            cached.fail()
            targets = []
        default: cached.respond("changed", status: pick(.ok, .created, .noContent), fields)
        }
        let sentBefore = cached.sent
        _ = try? await cached.send(target, method: pick(.post, .put, .delete))
        model.change(targets)
        return cached.sent == sentBefore + 1 ? nil : "the change was not sent"
    }

    private mutating func clear() {
        let (scope, owner): (CacheScope, String?) = pick(
            (.everything, nil), (.service("library"), nil), (.endpoint("Book", service: "library"), nil),
            (.account("ann", service: nil), "ann"), (.account("bob", service: "library"), "bob"),
            (.service("gallery"), "of another service"))
        model.clear(owner)
        cached.network.cache.clear(scope)
    }
}

extension HTTPCacheModel.Terms {
    /// The terms as `Cache-Control` has them.
    fileprivate var text: String {
        [
            maxAge.map { "max-age=\($0)" }, isNoCache ? "no-cache" : nil, isNoStore ? "no-store" : nil,
            mustRevalidate ? "must-revalidate" : nil, staleWhileRevalidate.map { "stale-while-revalidate=\($0)" },
            staleIfError.map { "stale-if-error=\($0)" },
        ].compactMap { $0 }.joined(separator: ", ")
    }
}
