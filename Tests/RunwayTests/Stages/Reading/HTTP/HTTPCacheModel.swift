import HTTPTypes

/// What a private cache by RFC 9111 should do, written down as plainly as can be: a list of answers, the oldest first.
struct HTTPCacheModel {
    /// A read, and whose it is.
    struct Asked {
        var target: String
        var owner: String
        var fields: [HTTPField.Name: String]
    }

    /// What a call wants of what is kept.
    enum Wish { case nothing, noCache, noStore, refresh, onlyKept }

    /// What the origin allows to be made of an answer.
    struct Terms {
        var maxAge: Int?
        var isNoCache = false
        var isNoStore = false
        var mustRevalidate = false
        var staleWhileRevalidate: Int?
        var staleIfError: Int?
    }

    /// An answer, and what decides on its use. Its entity tag, where it has one, is its number.
    struct Kept {
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

        /// Whether it is an answer to a read, fresh or not (§4.1).
        func serves(_ read: Asked) -> Bool {
            guard let vary, asked.target == read.target, asked.owner == read.owner,
                asked.fields[.authorization] == read.fields[.authorization]
            else { return false }
            return vary.allSatisfy { asked.fields[$0] == read.fields[$0] }
        }
    }

    enum Answer {
        case full(Kept)
        case notModified(Int, Terms)
        case serverError
        case noNetwork
    }

    /// What becomes of a read.
    enum Course {
        case given(String)
        /// It is given what is stale, and a fresh answer is fetched for nobody.
        case givenAndFetched(String)
        case fetched

        var isFetched: Bool { if case .given = self { false } else { true } }
    }

    /// The most answers of one target.
    let maximumVariants: Int
    var now = 0
    private(set) var kept: [Kept] = []

    init(maximumVariants: Int) { self.maximumVariants = maximumVariants }

    /// What could be given, the one to prefer first: of those that say on what they depend the newest, then of the others (§4.1).
    func candidates(for asked: Asked) -> [Kept] {
        let newestFirst = kept.reversed().filter { $0.serves(asked) }
        return newestFirst.filter { $0.vary != [] } + newestFirst.filter { $0.vary == [] }
    }

    /// What a read does at once (§4, RFC 5861 §3).
    func course(of asked: Asked, _ wish: Wish) -> Course {
        for kept in candidates(for: asked) where wish != .refresh && wish != .noCache && !kept.terms.isNoCache {
            let staleness = kept.staleness(at: now)
            if staleness < 0 { return .given("cache \(kept.number)") }
            if kept.terms.mustRevalidate { continue }
            if wish == .onlyKept { return .given("staleCache \(kept.number)") }
            if let window = kept.terms.staleWhileRevalidate, staleness <= window {
                return .givenAndFetched("staleCache \(kept.number)")
            }
        }
        return wish == .onlyKept ? .given("notCached") : .fetched
    }

    /// What a read that was fetched lands with, and what is kept then (§3, §4.2.4, §4.3, RFC 5861 §4).
    mutating func land(_ asked: Asked, _ wish: Wish, _ response: Answer) -> String {
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

    private mutating func store(_ new: Kept, _ wish: Wish) {
        // What is not kept has replaced what is kept at its origin all the same.
        kept.removeAll { $0.serves(new.asked) }
        if new.vary == nil || new.terms.isNoStore || wish == .noStore { return }
        kept.append(new)
        let ofTarget = kept.indices.filter { kept[$0].asked.target == new.asked.target }
        if ofTarget.count > maximumVariants { kept.remove(at: ofTarget[0]) }
    }

    private func standIn(_ candidates: [Kept], _ wish: Wish, isDisconnected: Bool) -> String? {
        candidates.first { kept in
            if wish == .noCache || kept.terms.isNoCache || kept.terms.mustRevalidate { return false }
            return kept.terms.staleIfError.map { kept.staleness(at: now) <= $0 } ?? isDisconnected
        }.map { "staleCache \($0.number)" }
    }

    /// Some targets were changed (§4.4).
    mutating func change(_ targets: Set<String>) { kept.removeAll { targets.contains($0.asked.target) } }

    /// What is kept of someone is gone; with `nil` everybody's is.
    mutating func clear(_ owner: String?) { kept.removeAll { owner == nil || $0.asked.owner == owner } }
}
