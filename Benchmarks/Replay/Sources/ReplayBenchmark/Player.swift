/// One way to make the calls of a session.
struct Player: Sendable {
    let name: String
    /// Prepares for one replay, as an app does when it starts; gives what makes the calls, and what ends them.
    let begin: @Sendable () throws -> Caller
}

/// Makes calls for one replay.
struct Caller: Sendable {
    /// Gives the body of the answer.
    let call: @Sendable (_ call: Session.Call, _ isRefresh: Bool) async throws -> [UInt8]
    let end: @Sendable () async -> Void
}

struct UnexpectedAnswer: Error {}

/// Replays a session, every visitor in a task of its own; gives how long it took.
func replay(_ session: Session, by player: Player) async throws -> Duration {
    let caller = try player.begin()
    let start = ContinuousClock.now
    for part in session.parts {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for visit in part.visits {
                group.addTask { @concurrent in
                    for call in visit { try check(await caller.call(call, false), call) }
                }
            }
            try await group.waitForAll()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<Session.visitorCount {
                group.addTask { @concurrent in
                    let call = Session.Call.list(part.refreshed)
                    try check(await caller.call(call, true), call)
                }
            }
            try await group.waitForAll()
        }
    }
    let time = ContinuousClock.now - start
    await caller.end()
    return time
}

/// Whether the answer is the one to this call.
private func check(_ body: [UInt8], _ call: Session.Call) throws {
    guard body.starts(with: Backend.opening(of: call).utf8) else { throw UnexpectedAnswer() }
}
