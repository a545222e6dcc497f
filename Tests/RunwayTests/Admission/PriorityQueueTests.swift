import Foundation
import RunwayTesting
import Testing

@testable import Runway

struct PriorityQueueTests {
    /// How many sequences are played; `RUNWAY_LINE_SEQUENCES` asks for more.
    private static let count = ProcessInfo.processInfo.environment["RUNWAY_LINE_SEQUENCES"].flatMap { Int($0) } ?? 1500

    @Test func slotsGoByPriorityAndArrival() {
        var line = PriorityQueue(capacity: 1, maximumWaiting: 10)
        let first = line.enterAtOnce(.low)
        #expect(first)
        let priorities: [CallPriority] = [.low, .normal, .high, .high, .normal]
        for (number, priority) in priorities.enumerated() {
            let arrival = line.arrive(UInt64(number), priority)
            #expect(arrival == .waits)
        }
        // The fourth turn is that of whoever has waited longest.
        let turns = (0..<5).map { _ in line.leave() }
        #expect(turns == [2, 3, 1, 0, 4])
        let nobody = line.leave()
        #expect(nobody == nil)
        #expect(line.occupied == 0 && line.waitingCount == 0)
    }

    @Test func lowPriorityIsServedDespiteManyHigherOnes() {
        var line = PriorityQueue(capacity: 1, maximumWaiting: 10)
        _ = line.enterAtOnce(.normal)
        _ = line.arrive(1, .low)
        var turns: [UInt64?] = []
        for number in 2...20 {
            _ = line.arrive(UInt64(number), .high)
            turns.append(line.leave())
        }
        #expect(turns.firstIndex(of: 1) == 3)
    }

    @Test func urgentNeverWaits() {
        var line = PriorityQueue(capacity: 1, maximumWaiting: 0)
        let arrivals = (0..<3).map { line.arrive($0, .urgent) }
        #expect(arrivals == [.enters, .enters, .enters])
        let late = line.arrive(9, .high)
        #expect(late == .isRefused)
        // A slot beyond the capacity goes to no waiter when it is released.
        let next = line.leave()
        #expect(next == nil)
        #expect(line.occupied == 2)
    }

    @Test func noArrivalOvertakesTheWaiters() {
        var line = PriorityQueue(capacity: 2, maximumWaiting: 5)
        _ = line.enterAtOnce(.normal)
        _ = line.enterAtOnce(.normal)
        let waiting = line.arrive(1, .low)
        #expect(waiting == .waits)
        let passesBy = line.enterAtOnce(.high)
        #expect(!passesBy)
    }

    /// One array of waiters, searched linearly.
    private struct Reference {
        var capacity: Int
        var maximum: Int
        var waiting: [(number: UInt64, priority: CallPriority)] = []
        var occupied = 0
        var turns = 0

        mutating func arrive(_ number: UInt64, _ priority: CallPriority) -> PriorityQueue.Arrival {
            if priority == .urgent || waiting.isEmpty && occupied < capacity {
                occupied += 1
                return .enters
            }
            if waiting.count == maximum { return .isRefused }
            waiting.append((number, priority))
            return .waits
        }

        mutating func leave() -> UInt64? {
            occupied -= 1
            guard occupied < capacity, !waiting.isEmpty else { return nil }
            turns += 1
            occupied += 1
            var index = 0
            if turns % 4 != 0 {
                for candidate in waiting.indices where waiting[candidate].priority > waiting[index].priority {
                    index = candidate
                }
            }
            return waiting.remove(at: index).number
        }

        mutating func raise(_ number: UInt64, to priority: CallPriority) -> Bool {
            guard let index = waiting.firstIndex(where: { $0.number == number }), waiting[index].priority < priority
            else { return false }
            waiting[index].priority = priority
            guard priority == .urgent else { return false }
            waiting.remove(at: index)
            occupied += 1
            return true
        }

        mutating func abandon(_ number: UInt64) -> Bool {
            let count = waiting.count
            waiting.removeAll { $0.number == number }
            return waiting.count < count
        }
    }

    @Test func queueMatchesAReference() throws {
        for seed in 1...UInt64(Self.count) {
            var random = SeededGenerator(seed: seed)
            let capacity = Int.random(in: 1...3, using: &random)
            let maximum = Int.random(in: 0...8, using: &random)
            var line = PriorityQueue(capacity: capacity, maximumWaiting: maximum)
            var reference = Reference(capacity: capacity, maximum: maximum)
            var numbers: UInt64 = 0
            for step in 0..<Int.random(in: 1...80, using: &random) {
                let place: Comment = "seed \(seed), step \(step)"
                switch Int.random(in: 0..<8, using: &random) {
                case 0...3:
                    numbers += 1
                    let priorities: [CallPriority] = [.low, .normal, .high, .low, .normal, .high, .urgent]
                    let priority = priorities.randomElement(using: &random) ?? .normal
                    let arrival = line.arrive(numbers, priority)
                    let expected = reference.arrive(numbers, priority)
                    try #require(arrival == expected, place)
                case 4...5 where reference.occupied > 0:
                    let number = line.leave()
                    let expected = reference.leave()
                    try #require(number == expected, place)
                case 6:
                    let number = UInt64.random(in: 0...numbers, using: &random)
                    let priority: CallPriority =
                        [.low, .normal, .high, .urgent].randomElement(using: &random) ?? .normal
                    let enters = line.raise(number, to: priority)
                    let expected = reference.raise(number, to: priority)
                    try #require(enters == expected, place)
                default:
                    let number = UInt64.random(in: 0...numbers, using: &random)
                    let isGone = line.abandon(number)
                    let expected = reference.abandon(number)
                    try #require(isGone == expected, place)
                }
                try #require(line.occupied == reference.occupied && line.waitingCount == reference.waiting.count, place)
                // No place is free as long as somebody waits.
                try #require(line.waitingCount == 0 || line.occupied >= capacity, place)
            }
        }
    }
}
