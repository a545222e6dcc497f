import Runway
import Testing

struct ParametersTests {
    @Test func literalPreservesOrderAndRepeatedNames() {
        let parameters: Parameters = ["b": 1, "a": "x", "b": [true, nil, 2.5, ["c": -1]]]
        #expect(parameters.map(\.name) == ["b", "a", "b"])
        #expect(parameters["b"] == 1)
        #expect(
            Array(parameters)[2].value == .array([.bool(true), .null, .double(2.5), .object(["c": .integer(-1)])]))
    }

    @Test func interpolatedLiteralIsText() {
        let (state, page, isSold) = ("open", 2, true)
        let parameters: Parameters = ["state": "\(state)", "page": "\(page)", "sold": "\(isSold)", "in": ["p\(page)"]]
        #expect(parameters == ["state": "open", "page": "2", "sold": "true", "in": ["p2"]])
    }

    @Test func appendingPreservesEarlierValuesOfTheName() {
        var parameters = Parameters([("a", 1)])
        parameters.append("b", 2)
        parameters.append("a", 3)
        #expect(parameters == ["a": 1, "b": 2, "a": 3])
    }

    @Test func settingANameReplacesItsEntriesInPlace() {
        var parameters: Parameters = ["a": 1, "b": 2, "a": 3]
        parameters["a"] = 9
        #expect(parameters == ["a": 9, "b": 2])
        parameters["c"] = 4
        #expect(parameters == ["a": 9, "b": 2, "c": 4])
        parameters["a"] = nil
        #expect(parameters == ["b": 2, "c": 4])
    }

    @Test func settingANameAfterRepeatsStaysInBounds() {
        var parameters: Parameters = ["a": 1, "a": 2, "a": 3]
        parameters["a"] = 4
        #expect(parameters == ["a": 4])
        parameters["missing"] = nil
        #expect(parameters == ["a": 4])
    }

    @Test func ownParametersWinOverDefaults() {
        let own: Parameters = ["lang": "en", "page": 1]
        #expect(own.merging(defaults: ["app": "x", "lang": "zh"]) == ["app": "x", "lang": "en", "page": 1])
        #expect(own.merging(defaults: [:]) == own)
        #expect(Parameters().merging(defaults: own) == own)
    }
}
