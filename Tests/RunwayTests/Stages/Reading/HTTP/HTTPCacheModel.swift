import HTTPTypes

/// The expected behaviour of a private cache by RFC 9111, as simple as possible: a list of responses, the oldest first.
struct HTTPCacheModel {
    /// A read, and whose it is.
    struct Asked {
        var target: String
        var owner: String
        var fields: [HTTPField.Name: String]
    }

    /// How a call uses stored responses.
    enum Wish { case nothing, noCache, noStore, refresh, onlyStored }

    /// The directives of the origin for a response.
    struct Terms {
        var maxAge: Int?
        var isNoCache = false
        var isNoStore = false
        var mustRevalidate = false
        var staleWhileRevalidate: Int?
        var staleIfError: Int?
    }

    /// A response, and what decides on its use. Its entity tag, if it has one, is its number.
    struct Stored {
        var number: Int
        var asked: Asked
        var terms: Terms
        /// The fields on which it depends; `nil` where that is anything.
        var vary: [HTTPField.Name]?
        var hasTag: Bool
        var modified: Int?
        var received: Int

        /// By how much it is stale; negative where it is fresh (RFC 9111 §4.2).
        func staleness(at now: Int) -> Int {
            now - received - (terms.maxAge ?? modified.map { (received - $0) / 10 } ?? 0)
        }

        /// Whether it is a response to a read, fresh or not (§4.1).
        func serves(_ read: Asked) -> Bool {
            guard let vary, asked.target == read.target, asked.owner == read.owner,
                asked.fields[.authorization] == read.fields[.authorization]
            else { return false }
            return vary.allSatisfy { asked.fields[$0] == read.fields[$0] }
        }
    }

    enum ModelResponse {
        case full(Stored)
        case notModified(Int, Terms)
        case serverError
        case noNetwork
    }

    /// What becomes of a read.
    enum Course {
        case given(String)
        /// It receives a stale response, and a fresh one is fetched in the background.
        case givenAndFetched(String)
        case fetched

        var isFetched: Bool { if case .given = self { false } else { true } }
    }

    /// The most responses of one target.
    let maximumVariants: Int
    var now = 0
    private(set) var stored: [Stored] = []

    init(maximumVariants: Int) { self.maximumVariants = maximumVariants }

    /// The candidates, the preferred one first: of those with `Vary` the newest, then of the others (§4.1).
    func candidates(for asked: Asked) -> [Stored] {
        let newestFirst = stored.reversed().filter { $0.serves(asked) }
        return newestFirst.filter { $0.vary != [] } + newestFirst.filter { $0.vary == [] }
    }

    /// What a read does at once (§4, RFC 5861 §3).
    func course(of asked: Asked, _ wish: Wish) -> Course {
        for stored in candidates(for: asked) where wish != .refresh && wish != .noCache && !stored.terms.isNoCache {
            let staleness = stored.staleness(at: now)
            if staleness < 0 { return .given("cache \(stored.number)") }
            if stored.terms.mustRevalidate { continue }
            if wish == .onlyStored { return .given("staleCache \(stored.number)") }
            if let window = stored.terms.staleWhileRevalidate, staleness <= window {
                return .givenAndFetched("staleCache \(stored.number)")
            }
        }
        return wish == .onlyStored ? .given("notCached") : .fetched
    }

    /// What a fetched read lands with, and what is stored then (§3, §4.2.4, §4.3, RFC 5861 §4).
    mutating func land(_ asked: Asked, _ wish: Wish, _ response: ModelResponse) -> String {
        let candidates = wish == .refresh ? [] : candidates(for: asked)
        switch response {
        case .full(let new):
            store(new, wish)
            return "network \(new.number)"
        case .notModified(let number, let terms):
            guard var confirmed = candidates.first(where: { $0.number == number }) else { return "invalidResponse" }
            (confirmed.asked, confirmed.terms, confirmed.received) = (asked, terms, now)
            store(confirmed, wish)
            return "cache \(number)"
        case .serverError: return standIn(candidates, wish, isDisconnected: false) ?? "network error"
        case .noNetwork: return standIn(candidates, wish, isDisconnected: true) ?? "noNetwork"
        }
    }

    private mutating func store(_ new: Stored, _ wish: Wish) {
        // A response that is not stored has superseded the stored ones at its origin all the same.
        stored.removeAll { $0.serves(new.asked) }
        if new.vary == nil || new.terms.isNoStore || wish == .noStore { return }
        stored.append(new)
        let ofTarget = stored.indices.filter { stored[$0].asked.target == new.asked.target }
        if ofTarget.count > maximumVariants { stored.remove(at: ofTarget[0]) }
    }

    private func standIn(_ candidates: [Stored], _ wish: Wish, isDisconnected: Bool) -> String? {
        candidates.first { stored in
            if wish == .noCache || stored.terms.isNoCache || stored.terms.mustRevalidate { return false }
            return stored.terms.staleIfError.map { stored.staleness(at: now) <= $0 } ?? isDisconnected
        }.map { "staleCache \($0.number)" }
    }

    /// Some targets were changed (§4.4).
    mutating func change(_ targets: Set<String>) { stored.removeAll { targets.contains($0.asked.target) } }

    /// Removes the stored responses of an account; with `nil`, of all.
    mutating func clear(_ owner: String?) { stored.removeAll { owner == nil || $0.asked.owner == owner } }
}
