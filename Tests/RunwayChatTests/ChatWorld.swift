import Foundation
import RunwayStreams
import RunwayTesting

@testable import RunwayChat

/// A mistake that is planted in the simulation, which has to find it.
enum ChatMistake: String, CaseIterable {
    /// The place in the stream is stored before the app has taken the events up to it.
    case placeStoredBeforeTaken
    /// The server stores a message again that it has.
    case noRecognition
    /// The server acknowledges a message before it is stored.
    case acknowledgementBeforeCommit
    /// A client sends before it has what it missed.
    case liveBeforeReplay
    /// A client does not fetch what is missing.
    case holeIgnored
}

/// A simulation of one conversation on a virtual clock: a server, its clients, and a network between them that fails.
///
/// The clients are the machines of the product; the server is a model. All that happens follows from the seed.
final class ChatWorld {
    /// What went wrong, in one sentence.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private struct Step {
        let time: Int
        let order: Int
        let run: () -> Void
    }

    let mistake: ChatMistake?
    /// The time in milliseconds.
    private(set) var now = 0
    var random: SeededGenerator
    /// Whether nothing fails any more.
    private(set) var isCalm = false
    private(set) var clients: [ModelChatClient] = []
    private(set) var server: ModelChatServer!
    private(set) var failure: Failure?
    /// A heap by time and order.
    private var steps: [Step] = []
    private var stepCount = 0

    init(seed: UInt64, clientCount: Int = 20, mistake: ChatMistake? = nil) {
        (self.mistake, random) = (mistake, SeededGenerator(seed: seed))
        server = ModelChatServer(self)
        var options = ChatOptions()
        options.markInterval = .seconds(15)
        // In some worlds everything is so small that the bounds are met.
        if chance(0.4) {
            options.pageCount = int(2...6)
            options.maximumMissedCount = int(4...12)
            options.maximumEarlyCount = int(1...4)
            options.maximumStoredCount = int(1...8)
            options.maximumMessageCount = int(6...20)
        }
        clients = (0..<clientCount).map { ModelChatClient(self, $0, options) }
    }

    deinit { steps = [] }

    func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &random) < probability }
    func uuid() -> UUID {
        let (high, low) = (random.next(), random.next())
        func byte(_ index: Int) -> UInt8 {
            UInt8(truncatingIfNeeded: (index < 8 ? high : low) >> UInt64(index % 8 * 8))
        }
        return UUID(
            uuid: (
                byte(0), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6), byte(7), byte(8), byte(9), byte(10),
                byte(11), byte(12), byte(13), byte(14), byte(15)
            ))
    }

    func fail(_ text: String) { if failure == nil { failure = Failure(description: "at \(now) ms: \(text)") } }

    /// Runs the world: a minute in which everything fails, and then calm until every screen is complete.
    ///
    /// - Returns: What went wrong; `nil` if nothing did.
    func run(messageCount: Int = 40) -> Failure? {
        for client in clients { after(int(0...2000)) { client.start() } }
        for _ in 0..<messageCount {
            let client = clients[int(0...clients.count - 1)]
            after(int(0...60_000)) { client.write() }
        }
        for client in clients { disturb(client) }
        for _ in 0..<int(0...3) { after(int(1000...60_000)) { [server] in server?.crash() } }
        advance(to: 62_000)
        isCalm = true
        server.restart()
        for client in clients { client.calmDown() }
        while failure == nil, now < 900_000, clients.contains(where: { $0.incompleteness != nil }) {
            for client in clients { client.settle() }
            advance(to: now + 5000)
        }
        if failure == nil { checkEnd() }
        return failure
    }

    private func disturb(_ client: ModelChatClient) {
        for _ in 0..<int(0...3) { after(int(1000...60_000)) { [self] in client.cut(isSilent: chance(0.3)) } }
        for _ in 0..<int(0...2) {
            after(int(1000...60_000)) { [self] in
                client.isOnline = false
                client.cut(isSilent: chance(0.5))
                after(int(100...15_000)) { client.comeOnline() }
            }
        }
        if chance(0.5) { after(int(1000...60_000)) { [self] in client.kill(for: int(100...10_000)) } }
        // About when the last messages come, which nothing later replaces.
        if chance(0.2) { after(int(59_000...61_500)) { [self] in client.kill(for: int(100...10_000)) } }
        if chance(0.4) { after(int(1000...60_000)) { [self] in client.jump(by: int(1000...7_200_000)) } }
    }

    private func checkEnd() {
        for client in clients { if let text = client.incompleteness { fail("client \(client.index) \(text)") } }
        let stored = server.messages
        if Set(stored.map { ShownMessage($0).key }).count != stored.count { fail("the server has a message twice") }
        for client in clients {
            let texts = stored.filter { $0.sender == client.member }.map(\.text)
            let numbers = texts.compactMap { Int($0) }
            if numbers != numbers.sorted() { fail("messages of client \(client.index) changed their order: \(texts)") }
            for (number, isDurable) in client.written where isDurable && !numbers.contains(number) {
                fail("message \(number) of client \(client.index) is lost")
            }
        }
    }
}

// The clock.
extension ChatWorld {
    /// Does something after some milliseconds.
    func after(_ delay: Int, _ run: @escaping () -> Void) {
        stepCount += 1
        steps.append(Step(time: now + max(0, delay), order: stepCount, run: run))
        var index = steps.count - 1
        while index > 0, isBefore(index, (index - 1) / 2) {
            steps.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private func advance(to time: Int) {
        while failure == nil, let next = steps.first, next.time <= time {
            steps.swapAt(0, steps.count - 1)
            steps.removeLast()
            sink()
            now = next.time
            next.run()
        }
        now = max(now, time)
    }

    private func sink() {
        var index = 0
        while true {
            let (left, right) = (2 * index + 1, 2 * index + 2)
            var least = index
            if left < steps.count, isBefore(left, least) { least = left }
            if right < steps.count, isBefore(right, least) { least = right }
            if least == index { return }
            steps.swapAt(index, least)
            index = least
        }
    }

    private func isBefore(_ one: Int, _ other: Int) -> Bool {
        (steps[one].time, steps[one].order) < (steps[other].time, steps[other].order)
    }
}
