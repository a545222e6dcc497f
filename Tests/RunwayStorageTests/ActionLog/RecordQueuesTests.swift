import Foundation
import Runway
import RunwayTesting
import Testing

@testable import RunwayStorage

struct RecordQueuesTests {
    private func record(_ number: UInt64, _ priority: ActionPriority) -> ActionRecord {
        ActionRecord(
            receipt: ActionReceipt(UUID()), number: number, name: "r\(number)", properties: [:], account: "",
            session: UUID(), date: Date(timeIntervalSince1970: 0), uptime: .zero, priority: priority,
            byteCount: Int(number % 100))
    }

    @Test func queuesBehaveAsOneSortedArray() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var queues = RecordQueues()
        var model: [ActionRecord] = []
        for number in 1...3000 as ClosedRange<UInt64> {
            let priority = ActionPriority(rawValue: Int.random(in: 0...2, using: &generator)) ?? .normal
            queues.append(record(number, priority))
            model.append(record(number, priority))
            if model.count > 200 {
                let place = model.indices.min { (model[$0].priority, $0) < (model[$1].priority, $1) } ?? 0
                #expect(queues.evict()?.number == model.remove(at: place).number, "seed \(seed)")
            }
            if Int.random(in: 0..<100, using: &generator) == 0 {
                let first = queues.take(Int.random(in: 1...150, using: &generator))
                #expect(first.map(\.number) == model.prefix(first.count).map(\.number), "seed \(seed)")
                if Bool.random(using: &generator) {
                    queues.removeTaken()
                    model.removeFirst(first.count)
                } else {
                    queues.restoreTaken()
                }
            }
            if number == 1500 {
                let erased = queues.removeAll { $0.number % 3 == 0 }
                #expect(Set(erased.map(\.number)) == Set(model.filter { $0.number % 3 == 0 }.map(\.number)))
                model.removeAll { $0.number % 3 == 0 }
            }
            #expect(queues.count == model.count, "seed \(seed)")
            #expect(queues.byteCount == model.reduce(0) { $0 + $1.byteCount }, "seed \(seed)")
        }
        #expect(queues.take(1000).map(\.number) == model.map(\.number), "seed \(seed)")
    }

    @Test func recordsBeingWrittenAreNotEvicted() {
        var queues = RecordQueues()
        for number in 1...3 as ClosedRange<UInt64> { queues.append(record(number, .normal)) }
        #expect(queues.take(2).map(\.number) == [1, 2])
        #expect(queues.evict()?.number == 3 && queues.evict() == nil && queues.count == 2)
        queues.restoreTaken()
        #expect(queues.evict()?.number == 1 && queues.count == 1)
    }
}
