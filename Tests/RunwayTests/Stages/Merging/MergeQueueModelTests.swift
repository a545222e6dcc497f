import Foundation
import RunwayTesting
import Testing

@testable import Runway

/// Arrivals, landings, cancellations and moves of the clock in every order that a seed can think of, against what must always hold.
struct MergeQueueModelTests {
    /// How many sequences are played; `RUNWAY_MERGINGS` asks for more.
    static let count = ProcessInfo.processInfo.environment["RUNWAY_MERGINGS"].flatMap { Int($0) } ?? 2000

    @Test func requestsLeaveOnceInOrderAndInTime() throws {
        for seed in 1...UInt64(Self.count) {
            var model = QueueModel(seed: seed)
            model.run()
            try #require(model.problems.isEmpty, "seed \(seed): \(model.problems)")
        }
    }
}

private struct QueueModel {
    private struct Request {
        let byteCount: Int
        let arrival: Duration
        var hasLeft = false
        var isCancelled = false
    }

    var problems: [String] = []
    private var random: SeededGenerator
    private let policy: MergePolicy
    private var queue: MergeQueue
    private var now = Duration.zero
    private var requests: [Request] = []
    /// The numbers of the requests that wait.
    private var waiting: [Int] = []
    private var inFlight: [MergeQueue.DispatchID] = []
    private var wakes: [Duration] = []
    private var lastLanding = Duration.zero

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        policy = MergePolicy(
            maximumCount: Int.random(in: 1...6, using: &random),
            maximumByteCount: Int.random(in: 10...40, using: &random),
            wait: .milliseconds(Int.random(in: 0...9, using: &random)),
            settling: .milliseconds(Int.random(in: 0...4, using: &random)))
        queue = MergeQueue(policy)
    }

    mutating func run() {
        for _ in 0..<Int.random(in: 5...60, using: &random) {
            step()
            check()
        }
        // Whatever still waits leaves in time though nothing lands any more.
        move(by: policy.wait)
        if !waiting.isEmpty { problems.append("\(waiting.count) never left") }
        while let dispatch = inFlight.popLast() { perform(queue.complete(dispatch, at: now)) }
        move(by: policy.wait)
        if !queue.isIdle { problems.append("not idle at the end") }
    }

    private mutating func step() {
        switch Int.random(in: 0..<10, using: &random) {
        case 0...4: arrive()
        case 5...6: complete()
        case 7: cancel()
        default: move(by: .milliseconds(Int.random(in: 0...5, using: &random)))
        }
    }

    private mutating func arrive() {
        let byteCount = Int.random(in: 1...10, using: &random)
        let isIdle = inFlight.isEmpty && waiting.isEmpty && now > lastLanding + policy.settling
        requests.append(Request(byteCount: byteCount, arrival: now))
        let number = requests.count - 1
        waiting.append(number)
        perform(queue.arrive(MergeQueue.RequestID(number: UInt64(number)), byteCount: byteCount, at: now))
        if isIdle, !requests[number].hasLeft { problems.append("\(number) did not leave at once") }
    }

    private mutating func complete() {
        guard let index = inFlight.indices.randomElement(using: &random) else { return }
        lastLanding = now
        perform(queue.complete(inFlight.remove(at: index), at: now))
    }

    private mutating func cancel() {
        guard let number = requests.indices.randomElement(using: &random) else { return }
        let isWaiting = !requests[number].hasLeft && !requests[number].isCancelled
        if queue.cancel(MergeQueue.RequestID(number: UInt64(number))) != isWaiting {
            problems.append("\(number) was cancelled, and it was not so that it waited: \(!isWaiting)")
        }
        requests[number].isCancelled = requests[number].isCancelled || isWaiting
        waiting.removeAll { $0 == number }
    }

    /// Moves the clock, and wakes the queue at every instant that it asked for.
    private mutating func move(by duration: Duration) {
        let end = now + duration
        while let wake = wakes.filter({ $0 <= end }).min() {
            now = max(now, wake)
            wakes.removeAll { $0 <= wake }
            perform(queue.wake(at: now))
            check()
        }
        now = end
    }

    private mutating func perform(_ actions: [MergeQueue.Action]) {
        for action in actions {
            switch action {
            case .wake(let instant): wakes.append(instant)
            case .leave(let ids, let dispatch):
                let numbers = ids.map { Int($0.number) }
                if numbers != numbers.sorted() { problems.append("out of order: \(numbers)") }
                if numbers.isEmpty || numbers.count > max(1, policy.maximumCount) { problems.append("too many left") }
                if numbers.count > 1, numbers.map({ requests[$0].byteCount }).reduce(0, +) > policy.maximumByteCount {
                    problems.append("too many bytes left")
                }
                for number in numbers {
                    if requests[number].hasLeft { problems.append("\(number) left twice") }
                    if requests[number].isCancelled { problems.append("\(number) left though it was cancelled") }
                    requests[number].hasLeft = true
                    waiting.removeAll { $0 == number }
                }
                inFlight.append(dispatch)
            }
        }
    }

    private mutating func check() {
        for number in waiting where now - requests[number].arrival > policy.wait { problems.append("waited too long") }
        if !waiting.isEmpty, inFlight.isEmpty, now - lastLanding > policy.settling {
            problems.append("waits though nothing is in flight")
        }
        if queue.waitingCount != waiting.count { problems.append("\(queue.waitingCount) wait, not \(waiting.count)") }
    }
}
