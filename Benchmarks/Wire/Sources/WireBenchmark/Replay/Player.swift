/// One contender: a way to make the calls of a session.
struct Player: Sendable {
    let name: String
    /// The most requests that a session may take on the wire; `nil` where none is aimed at.
    var maximumRequests: Int?
    /// By how much its session has to be shorter than the first contender's; `nil` where none is aimed at.
    var leastSpeedup: Double?
    /// How many events of the session have to be at the backend; zero for a contender without a log.
    var eventCount = 0
    /// Prepares for one session, as an app does when it starts: the cache is empty and no connection is open.
    let begin: @Sendable () async throws -> Play
}

/// A contender in one session.
struct Play: Sendable {
    /// Makes a call that is not part of the session, so that there is a connection.
    let connect: @Sendable () async throws -> Void
    /// Makes a call of the user's; returns the body of the response.
    let call: @Sendable (Session.Call) async throws -> [UInt8]
    /// Sends what is left of the log, as an app does that goes to the background.
    var flush: @Sendable () async throws -> Void = {}
    /// How many calls had a cached response; `nil` if that is not known.
    let cachedCount: @Sendable () -> Int?
    /// How many calls failed by no fault of the backend's and were made again.
    var failedCount: @Sendable () -> Int = { 0 }
    let end: @Sendable () async throws -> Void
}
