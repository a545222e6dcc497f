import RunwayTesting
import Testing

@testable import Runway

struct ValuesByKindTests {
    private typealias Values = ValuesByKind<String, Int, String>

    private func values(_ byteCounts: [String: Int] = ["a": 30, "b": 20]) -> Values {
        ValuesByKind(maximumCount: 3, maximumByteCount: 10, byteCounts: byteCounts)
    }

    @Test func aKindEvictsNoValueOfAnother() {
        var values = values()
        values.insert("plain", for: 1, of: "other", byteCount: 10)
        values.insert("b", for: 2, of: "b", byteCount: 20)
        for key in 10..<20 { values.insert("a", for: key, of: "a", byteCount: 15) }
        #expect(values.peek(1) == "plain" && values.peek(2) == "b")
        #expect(values.peek(17) == nil && values.peek(18) == "a" && values.peek(19) == "a")
        #expect(values.count == 4 && values.byteCount == 60)
    }

    @Test func kindsWithoutABudgetShareOne() {
        var values = values()
        values.insert("x", for: 1, of: "x", byteCount: 6)
        values.insert("y", for: 2, of: "y", byteCount: 6)
        #expect(values.peek(1) == nil && values.peek(2) == "y")
        #expect(values.maximumByteCount(of: "y") == 10 && values.maximumByteCount(of: "a") == 30)
    }

    @Test func aKeyHasOneValueOfWhateverKind() {
        var values = values()
        values.insert("first", for: 1, of: "a", byteCount: 5)
        values.insert("second", for: 1, of: "b", byteCount: 5)
        #expect(values.count == 1 && values.value(for: 1) == "second" && values.keys == [1])
        #expect(values.change(1) { $0 += "!" } != nil && values.remove(1) == "second!")
        #expect(values.count == 0 && values.value(for: 1) == nil && values.change(1) { _ in } == nil)
    }

    @Test func aKindNamesWhatItWouldEvict() {
        var values = values()
        for key in 1...3 { values.insert("\(key)", for: key, of: "a", byteCount: 5) }
        #expect(values.value(for: 1) == "1")
        #expect(values.valueToEvict(for: "a", byteCount: 1) == "2", "the count is exhausted")
        #expect(values.valueToEvict(for: "b", byteCount: 20) == nil)
        #expect(values.canHold("b", byteCount: 20) && !values.canHold("b", byteCount: 21))
    }

    @Test func trimmingTakesTheSamePartOfEach() {
        var values = ValuesByKind<String, Int, Int>(maximumCount: 100, maximumByteCount: 1000, byteCounts: ["a": 1000])
        for key in 0..<40 { values.insert(key, for: key, of: key < 10 ? "a" : "", byteCount: 10) }
        values.trim(toCount: 20, byteCount: .max)
        #expect(values.keys.count { $0 < 10 } == 5 && values.keys.count { $0 >= 10 } == 15)
        values.trim(toCount: .max, byteCount: 100)
        #expect(values.byteCount <= 100 && values.count >= 8)
        values.trim(toCount: 0, byteCount: .max)
        #expect(values.count == 0)
    }

    @Test func itIsEachKindsDictionaryUnderRandomUse() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        var values = values()
        var models = ["a": 30, "b": 20, "": 10].mapValues {
            LeastRecentlyUsed<Int, String>(maximumCount: 3, maximumByteCount: $0)
        }
        for step in 0..<2000 {
            let key = Int.random(in: 0..<12, using: &random)
            let kind = ["a", "b", ""].randomElement(using: &random) ?? ""
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                let byteCount = Int.random(in: 0..<16, using: &random)
                values.insert("\(step)", for: key, of: kind, byteCount: byteCount)
                for other in models.keys where other != kind { models[other]?.remove(key) }
                models[kind]?.insert("\(step)", for: key, byteCount: byteCount)
            case 2:
                let expected = models.keys.compactMap { models[$0]?.value(for: key) }.first
                #expect(values.value(for: key) == expected, "seed \(seed), step \(step)")
            default:
                values.remove(key)
                for other in models.keys { models[other]?.remove(key) }
            }
            #expect(Set(values.keys) == Set(models.values.flatMap(\.keys)), "seed \(seed), step \(step)")
            #expect(values.byteCount == models.values.reduce(0) { $0 + $1.byteCount }, "seed \(seed), step \(step)")
        }
    }
}
