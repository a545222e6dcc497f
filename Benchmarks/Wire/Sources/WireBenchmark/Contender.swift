/// One way to make a call, measured beside the others.
struct Contender {
    let name: String
    /// Makes this many calls, so many at a time, and returns when all have come back.
    let makeCalls: (_ count: Int, _ atATime: Int) async throws -> Void
}

/// Makes `count` calls from `atATime` tasks.
func spread(_ count: Int, _ atATime: Int, _ call: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<atATime {
            let share = count / atATime + (worker < count % atATime ? 1 : 0)
            group.addTask { @concurrent in
                for _ in 0..<share { try await call() }
            }
        }
        try await group.waitForAll()
    }
}
