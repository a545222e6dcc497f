@testable import Runway

/// The events of concurrent calls. Positions count over all events, so that a certain order can be derived.
struct StormLog: Sendable {
    /// What a response is for: its target, its owner, and the one field by which the responses of some targets vary.
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
        /// The response that the call received, if it received one.
        var number: Int?
        /// Why it received no response.
        var failure: NetworkError.Kind?
        /// Whether that was stored before.
        var isFromCache = false
    }

    /// A request as it came to the origin.
    struct Exchange: Sendable {
        var variant: Variant
        /// The call that waits for it, or that received the stale response that it revalidates.
        var call: Int
        var isBackground: Bool
        var arrival: Int
        /// The response that it created or confirmed; `nil` if it failed.
        var number: Int?
        var maxAge = 0
        /// Whether the response may be stored, and returned while it is fresh.
        var isReusable = false
    }

    struct SentResponse: Sendable {
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
    var responses: [SentResponse] = []
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
