import RunwayTesting
import Testing

@testable import Runway

struct LeastRecentlyUsedTests {
    @Test func oldestGoesFirstWhenThereAreTooMany() {
        var cache = LeastRecentlyUsed<Int, String>(maximumCount: 2, maximumByteCount: 100)
        for number in 1...3 { cache.insert("\(number)", for: number, byteCount: 1) }
        #expect(cache.keys == [3, 2])
        #expect(cache.value(for: 1) == nil)
    }

    @Test func useProtectsAValueFromEviction() {
        var cache = LeastRecentlyUsed<Int, String>(maximumCount: 2, maximumByteCount: 100)
        cache.insert("1", for: 1, byteCount: 1)
        cache.insert("2", for: 2, byteCount: 1)
        #expect(cache.value(for: 1) == "1")
        cache.insert("3", for: 3, byteCount: 1)
        #expect(cache.keys == [3, 1])
    }

    @Test func peekingIsNoUse() {
        var cache = LeastRecentlyUsed<Int, String>(maximumCount: 2, maximumByteCount: 100)
        cache.insert("1", for: 1, byteCount: 1)
        cache.insert("2", for: 2, byteCount: 1)
        #expect(cache.peek(1) == "1")
        cache.insert("3", for: 3, byteCount: 1)
        #expect(cache.keys == [3, 2])
    }

    @Test func tooLargeValueRemovesItsPredecessor() {
        var cache = LeastRecentlyUsed<Int, String>(maximumCount: 2, maximumByteCount: 10)
        cache.insert("small", for: 1, byteCount: 10)
        cache.insert("large", for: 1, byteCount: 11)
        #expect(cache.count == 0 && cache.byteCount == 0)
    }

    @Test(arguments: [(0, 10), (-1, 10), (10, -1)])
    func zeroBoundStoresNothing(_ count: Int, _ byteCount: Int) {
        var cache = LeastRecentlyUsed<Int, String>(maximumCount: count, maximumByteCount: byteCount)
        cache.insert("1", for: 1, byteCount: 1)
        #expect(cache.count == 0 && cache.keys.isEmpty)
    }

    /// Against a plain list, in which the last is the newest.
    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func behavesAsAPlainListWould(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var cache = LeastRecentlyUsed<Int, Int>(maximumCount: 6, maximumByteCount: 40)
        var model: [(key: Int, value: Int, byteCount: Int)] = []
        for step in 0..<2000 {
            let key = Int.random(in: 0..<12, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let byteCount = Int.random(in: 0...45, using: &random)
                cache.insert(step, for: key, byteCount: byteCount)
                model.removeAll { $0.key == key }
                if byteCount <= 40 {
                    while model.count > 5 || byteCount + model.map(\.byteCount).reduce(0, +) > 40 {
                        model.removeFirst()
                    }
                    model.append((key, step, byteCount))
                }
            case 5..<8:
                let expected = model.firstIndex { $0.key == key }.map { model.remove(at: $0) }
                if let expected { model.append(expected) }
                #expect(cache.value(for: key) == expected?.value)
            case 8:
                #expect(cache.remove(key) == model.first { $0.key == key }?.value)
                model.removeAll { $0.key == key }
            default:
                cache.removeAll { key, value in (key + value).isMultiple(of: 5) }
                model.removeAll { ($0.key + $0.value).isMultiple(of: 5) }
            }
            #expect(cache.keys == model.reversed().map(\.key))
            #expect(cache.count == model.count && cache.byteCount == model.map(\.byteCount).reduce(0, +))
        }
    }
}
