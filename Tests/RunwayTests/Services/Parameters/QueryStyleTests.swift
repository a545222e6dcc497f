import Foundation
import Runway
import RunwayTesting
import Testing

struct QueryStyleTests {
    private func text(_ parameters: Parameters, _ style: QueryStyle = .default) throws -> String {
        try style.text(parameters)
    }

    @Test func pairsAreSortedStablyByEscapedName() throws {
        #expect(try text(["b": 2, "a": 1, "B": 3, "a": 0, "中": 4]) == "%E4%B8%AD=4&B=3&a=1&a=0&b=2")
        #expect(try text([:]) == "")
    }

    @Test func orderOfEqualParametersDoesNotMatter() throws {
        let names = (0..<40).map { "name\($0)" }
        let entries = names.map { Parameters.Entry($0, .string("v \($0)")) }
        let expected = try text(Parameters(entries))
        for seed in 1...20 {
            var generator = SeededGenerator(seed: UInt64(seed))
            #expect(try text(Parameters(entries.shuffled(using: &generator))) == expected)
        }
    }

    @Test func reservedCharactersAreEscapedInNamesAndValues() throws {
        let ascii = String(String.UnicodeScalarView((0..<128).map { Unicode.Scalar(UInt8($0)) }))
        let escaped = (0..<128).map { byte -> String in
            let scalar = Unicode.Scalar(UInt8(byte))
            let isUnreserved =
                scalar.properties.isAlphabetic || (48...57).contains(byte) || "-._~".unicodeScalars.contains(scalar)
            return isUnreserved
                ? String(scalar) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
        #expect(try text([ascii: .string(ascii)].asParameters) == "\(escaped)=\(escaped)")
        #expect(try text(["a b&c": "1=2 +x/😀"]) == "a%20b%26c=1%3D2%20%2Bx%2F%F0%9F%98%80")
        #expect(try text(["a[b]": 1]) == "a%5Bb%5D=1")
    }

    @Test(arguments: [
        (QueryStyle.Arrays.repeated, "t=a&t=b%2Cc"),
        (.brackets, "t[]=a&t[]=b%2Cc"),
        (.indices, "t[0]=a&t[1]=b%2Cc"),
        (.commas, "t=a,b%2Cc"),
    ])
    func arrays(_ arrays: QueryStyle.Arrays, _ expected: String) throws {
        #expect(try text(["t": ["a", "b,c"]], QueryStyle(arrays: arrays)) == expected)
        #expect(try text(["t": []], QueryStyle(arrays: arrays)) == "")
    }

    @Test func nestedNamesAreBracketedOrDotted() throws {
        let parameters: Parameters = ["price": ["low": 1, "h i": ["x": 2]], "list": [["a": 1], ["a": 2]]]
        #expect(try text(parameters) == "list[a]=1&list[a]=2&price[h%20i][x]=2&price[low]=1")
        #expect(
            try text(parameters, QueryStyle(arrays: .indices, writesDots: true))
                == "list[0].a=1&list[1].a=2&price.h%20i.x=2&price.low=1")
        #expect(try text(["empty": [:]]) == "")
    }

    @Test func booleansAreWordsOrDigits() throws {
        #expect(try text(["a": true, "b": false]) == "a=true&b=false")
        #expect(try text(["a": true, "b": [false]], QueryStyle(writesDigits: true)) == "a=1&b=0")
    }

    @Test func nullsAreOmittedOrEmpty() throws {
        #expect(try text(["a": nil, "b": [nil, 1]]) == "b=1")
        #expect(try text(["a": nil, "b": [nil, 1]], QueryStyle(writesNulls: true)) == "a=&b=&b=1")
    }

    @Test func datesAreTextSecondsOrMilliseconds() throws {
        let date = Date(timeIntervalSince1970: 1_772_353_800.25)
        #expect(try text(["d": .date(date)]) == "d=2026-03-01T08%3A30%3A00Z")
        #expect(try text(["d": .date(date)], QueryStyle(dates: .secondsSince1970)) == "d=1772353800.25")
        #expect(try text(["d": .date(date)], QueryStyle(dates: .millisecondsSince1970)) == "d=1772353800250")
        let early = Date(timeIntervalSince1970: -1)
        #expect(try text(["d": .date(early)]) == "d=1969-12-31T23%3A59%3A59Z")
        #expect(try text(["d": .date(early)], QueryStyle(dates: .secondsSince1970)) == "d=-1")
    }

    @Test func firstAndLastRFC3339DatesAreWritten() throws {
        #expect(
            try text(["d": .date(Date(timeIntervalSince1970: -62_167_219_200))]) == "d=0000-01-01T00%3A00%3A00Z")
        #expect(
            try text(["d": .date(Date(timeIntervalSince1970: 253_402_300_799))]) == "d=9999-12-31T23%3A59%3A59Z")
    }

    /// The day before the first of the Gregorian calendar of 1582: RFC 3339 has that calendar for all times.
    @Test func datesBeforeTheCalendarsReformAreGregorianToo() throws {
        #expect(
            try text(["d": .date(Date(timeIntervalSince1970: -12_219_379_200))]) == "d=1582-10-14T00%3A00%3A00Z")
    }

    @Test func daysOfFourCenturiesMatchFoundation() throws {
        var date = Date(timeIntervalSince1970: -11_670_912_000 + 0.75)
        for _ in 0..<146_097 {
            let text = try QueryStyle(arrays: .commas).text(["d": .date(date)])
            let expected = date.formatted(.iso8601).replacing(":", with: "%3A")
            if text != "d=\(expected)" { Issue.record("\(date.timeIntervalSince1970): \(text)") }
            date += 86_400 + 61
        }
    }

    @Test func numbersHaveTheirShortestExactText() throws {
        #expect(
            try text(["a": 1.0, "b": 0.1, "c": 1e300, "d": -0.0, "e": .unsigned(.max), "f": .integer(.min)])
                == "a=1&b=0.1&c=1e%2B300&d=0&e=18446744073709551615&f=-9223372036854775808")
        #expect(
            try text(["low": -0x1p63, "high": 0x1p63]) == "high=9.223372036854776e%2B18&low=-9.223372036854776e%2B18")
        let decimal = try #require(Decimal(string: "0.10000000000000000000000000000000000001"))
        #expect(try text(["d": .decimal(decimal)]) == "d=0.10000000000000000000000000000000000001")
    }

    @Test func bytesAreBase64() throws {
        #expect(try text(["b": .bytes([251, 255, 254])]) == "b=%2B%2F%2F%2B")
    }
}

extension [String: ParameterValue] {
    fileprivate var asParameters: Parameters { Parameters(map { Parameters.Entry($0.key, $0.value) }) }
}
