@testable import Runway

/// What was seen of calls that are made at once. Places are counted over all events, so that it can be told what was certainly earlier.
struct StormLog: Sendable {
    /// What an answer is for: its target, whose it is, and the one field on which the answers of some targets depend.
    struct Variant: Hashable, Sendable {
        let shelf: Int
        let owner: String
        let language: String?

        init(shelf: Int, owner: String, language: String?) {
            (self.shelf, self.owner) = (shelf, owner)
            self.language = Self.varies(shelf) ? language : nil
        }

        static func varies(_ shelf: Int) -> Bool { shelf > 1 }
    }

    /// The places between which something happened.
    struct Span: Sendable {
        var begin: Int
        var end = Int.max

        func isBefore(_ other: Span) -> Bool { end < other.begin }
    }

    struct Call: Sendable {
        var shelf: Int
        var language: String?
        var use: CacheUse
        var span: Span
        var beginning: Duration
        var end = Duration.zero
        /// The answer that it was given, if it was given one.
        var number: Int?
        /// Why it received no response.
        var failure: NetworkError.Kind?
        /// Whether that was kept before.
        var isOfCache = false
    }

    /// A request as it came to the origin.
    struct Exchange: Sendable {
        var variant: Variant
        /// The call that waits for it, or that was given the stale answer in whose place it fetches a fresh one.
        var call: Int
        var isBackground: Bool
        var arrival: Int
        /// The answer that it made or confirmed; `nil` where it failed.
        var number: Int?
        var maxAge = 0
        /// Whether the answer may be kept, and given while it is fresh.
        var isReusable = false
    }

    struct Answer: Sendable {
        var variant: Variant
        var version: Int
    }

    /// A change that succeeded, and the version of its target since.
    struct Change: Sendable {
        var shelf: Int
        var version: Int
        var span: Span
    }

    /// A clear or a sign-out; of everybody where there is no owner.
    struct Removal: Sendable {
        var owner: String?
        var span: Span
    }

    /// While somebody was signed in, or about to be or not to be.
    struct Session: Sendable {
        var owner: String
        var span: Span
    }

    var calls: [Call] = []
    var exchanges: [Exchange] = []
    /// What the origin made, by number.
    var responses: [Answer] = []
    var changes: [Change] = []
    var removals: [Removal] = []
    var sessions = [Session(owner: "nobody", span: Span(begin: 0))]
    private var places = 0

    /// The next place.
    mutating func place() -> Int {
        places += 1
        return places
    }
}
