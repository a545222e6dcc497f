import Foundation

/// Plays one session of an app over the layer and over its peers, in turn, and compares the layer with its targets.
///
/// The user's calls are the same for all, eight at a time, and every response is compared byte by byte with the backend's.
/// Requests are counted where they arrive, those with events of the layer's log among them. Time counts while calls are made; it stands
/// still while something new is published, and what is left of the log is sent afterwards.
struct Replay {
    let session: Session
    let players: [Player]
    let control: ReplayControl
    let rounds: Int
    let seed: UInt64
    /// Whether making the connection is part of the session.
    let isCold: Bool

    private struct WrongResponse: Error, CustomStringConvertible {
        let description: String
    }

    private struct Outcome {
        var seconds: Double
        var requestCount: Int
        var itemCount: Int
        var eventCount: Int
        var cachedCount: Int?
        var failedCount: Int
    }

    /// - Parameters:
    ///   - backendPort: Where the backend itself is.
    ///   - farPort: Where the path to it begins, at 127.0.0.2.
    init(backendPort: Int, farPort: Int, root: String, rounds: Int, seed: UInt64, isCold: Bool) throws {
        let base = "https://127.0.0.2:\(farPort)/v1/"
        session = Session(seed: seed)
        control = try ReplayControl(backendPort: backendPort, root: root)
        self.rounds = rounds
        self.seed = seed
        self.isCold = isCold
        // 50 requests are the target of prefetching and merging together. Merging alone takes about 65, and the log up to 16 more.
        players = [
            .asyncHTTPClient(base: base, root: root), .urlSession(base: base),
            .runway("Runway", base: base, root: root, prefetches: false, merges: false, maximumRequests: 350),
            .runway("Runway, merging", base: base, root: root, prefetches: false, merges: true, maximumRequests: 85),
            .runway(
                "Runway, prefetching", base: base, root: root, prefetches: true, merges: false, maximumRequests: 350,
                leastSpeedup: 5),
            .runway(
                "Runway, both", base: base, root: root, prefetches: true, merges: true, maximumRequests: 50,
                leastSpeedup: 5),
        ]
    }

    /// Returns whether the targets were reached.
    ///
    /// - Throws: The error of a call; and an error if a response was not the expected one.
    func run() async throws -> Bool {
        let responses = Set(session.calls.map(\.response))
        print(
            "seed \(seed): \(session.calls.count) calls of \(responses.count) distinct responses, 8 at a time,",
            "\(rounds) rounds,", isCold ? "connections made in them" : "connections made before")
        guard session.calls.count == 1000, responses.count == 330 else { return false }
        let bodies = Dictionary(uniqueKeysWithValues: responses.map { ($0, $0.body) })
        var outcomes = players.map { _ in [Outcome]() }
        for round in 0..<rounds {
            for offset in players.indices {
                // Another contender begins each round, since the first one pays for what the last left behind.
                let index = (offset + round) % players.count
                outcomes[index].append(try await play(players[index], expecting: bodies))
            }
        }
        try await control.close()
        return report(outcomes)
    }

    private func play(_ player: Player, expecting bodies: [ExpectedResponse: [UInt8]]) async throws -> Outcome {
        let play = try await player.begin()
        if !isCold { try await play.connect() }
        try await control.reset()
        var time = Duration.zero
        for part in session.parts {
            if let list = part.published { try await control.publish(list) }
            let start = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for script in part.scripts {
                    group.addTask { @concurrent in
                        for call in script {
                            guard try await play.call(call) == bodies[call.response] else {
                                throw WrongResponse(description: "\(player.name): a wrong response to \(call)")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            time += ContinuousClock.now - start
        }
        try await play.flush()
        let counts = try await control.counts()
        try await play.end()
        return Outcome(
            seconds: time / .seconds(1), requestCount: counts.requests, itemCount: counts.items,
            eventCount: counts.events,
            cachedCount: play.cachedCount(), failedCount: play.failedCount())
    }

    private func report(_ outcomes: [[Outcome]]) -> Bool {
        print("medians; × is how much shorter than AsyncHTTPClient's; requests as they came to the backend")
        var misses: [String] = []
        for (player, own) in zip(players, outcomes) {
            let speedup = median(zip(outcomes[0], own).map { $0.seconds / $1.seconds })
            let requests = own.map(\.requestCount)
            let most = requests.max() ?? 0
            var line =
                player.name.padding(toLength: 20, withPad: " ", startingAt: 0)
                + String(
                    format: "%7.3f s  ×%.2f  %4d to %d requests", median(own.map(\.seconds)), speedup,
                    requests.min() ?? 0, most)
            let items = own.map(\.itemCount)
            if let most = items.max(), most > 0 { line += ", \(items.min() ?? 0) to \(most) carried in envelopes" }
            if player.eventCount > 0 { line += ", \(own.map(\.eventCount).min() ?? 0) events" }
            if let stored = own.first?.cachedCount { line += ", \(stored) calls served from memory" }
            let failures = own.reduce(0) { $0 + $1.failedCount }
            if failures > 0 { line += ", \(failures) calls of \(rounds * 1000) failed and were made again" }
            print(line)
            if own.contains(where: { $0.eventCount != player.eventCount }) {
                misses.append("\(player.name): \(own.map(\.eventCount)) events, not \(player.eventCount)")
            }
            if let maximum = player.maximumRequests, most > maximum {
                misses.append("\(player.name): \(most) requests, at most \(maximum) are allowed")
            }
            if let least = player.leastSpeedup, speedup < least {
                misses.append("\(player.name): ×\(speedup), at least ×\(least) is asked for")
            }
        }
        for miss in misses { print("MISSED", miss) }
        if misses.isEmpty { print("all aims reached") }
        return misses.isEmpty
    }
}
