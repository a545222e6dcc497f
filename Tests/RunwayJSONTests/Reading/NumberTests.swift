import Foundation
import RunwayJSON
import Testing

@Suite struct NumberTests {
    private func number(_ text: String) throws -> JSONValue { try JSONDocument(text).root }

    @Test(arguments: [
        "0", "-0", "0.0", "-0.0", "1", "-1", "0.1", "0.2", "0.3", "1e22", "1e23", "1e-22", "1e-23",
        "123456789012345678",
        "9007199254740991", "9007199254740992", "9007199254740993", "9007199254740994", "9007199254740995",
        "-9007199254740993", "9007199254740993e1", "9007199254740993.0000000000000000000000000000001",
        "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616",
        "4.9406564584124654e-324", "5e-324", "2.4703282292062327e-324", "2.4703282292062328e-324",
        "2.2250738585072011e-308", "2.2250738585072014e-308", "1.7976931348623157e308",
        "0.500000000000000166533453693773481063544750213623046875",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126",
        "8.41e21", "7205759403792793200001e-5", "9214843084008499", "0.000000000000000000000000000000000000000000001",
        "100000000000000000000000000000000000000000000", "1e-400",
        "3.14159265358979323846264338327950288419716939937510",
    ])
    func doublesAreTheNearestOnes(_ text: String) throws {
        let expected = try #require(strtod(text, nil) as Double?)
        let value = try #require(try number(text).double)
        #expect(value.bitPattern == expected.bitPattern)
        #expect(try number(text).require(Double.self).bitPattern == expected.bitPattern)
    }

    @Test func doublesOfManyDigitsAreTheNearestOnes() throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            let digits = (0..<Int.random(in: 1...40, using: &generator)).map { _ in
                "\(Int.random(in: 0...9, using: &generator))"
            }
            let text =
                "1\(digits.joined()).\(digits.reversed().joined())e\(Int.random(in: -330...300, using: &generator))"
            let expected = strtod(text, nil)
            let value = try number(text).double
            #expect(value?.bitPattern == (expected.isFinite ? expected.bitPattern : nil), "\(text)")
        }
    }

    /// Fifteen to twenty digits of every size near one, most of which two roundings would get wrong now and then; a number
    /// halfway between two doubles, and one digit more or less.
    @Test func longDecimalsBecomeTheNearestDoubles() throws {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<2000 {
            let digits =
                UInt64.random(in: (1 << 50)...(.max), using: &generator) >> UInt64.random(in: 0...13, using: &generator)
            let double = Double.random(in: 0...1000, using: &generator)
            let half = UInt64(double.bitPattern & (1 << 52 - 1) | 1 << 52) << 1 + 1
            for text in [
                "\(digits)e\(Int.random(in: -30...25, using: &generator))", "-\(double)", "\(double.nextUp)",
                "\(half << UInt64.random(in: 0...10, using: &generator))",
                "\(half)0e-\(Int.random(in: 0...22, using: &generator))",
                "\(half + 1 - UInt64.random(in: 0...2, using: &generator)).0e1",
            ] {
                #expect(try number(text).double?.bitPattern == strtod(text, nil).bitPattern, "\(text)")
            }
        }
    }

    @Test func integersOf128BitsAreExact() throws {
        for text in [
            "0", "-0", "170141183460469231731687303715884105727", "-170141183460469231731687303715884105728",
            "340282366920938463463374607431768211455", "18446744073709551616", "-9223372036854775809",
            "17014118346046923173168730371588410572.70e1", "1e38", "100000000000000000000.0", "-1", "1.5",
            "340282366920938463463374607431768211456", "-170141183460469231731687303715884105729", "1e39",
            "170141183460469231731687303715884105728",
        ] {
            let digits =
                [
                    "17014118346046923173168730371588410572.70e1": "170141183460469231731687303715884105727",
                    "1e38": "1" + String(repeating: "0", count: 38), "100000000000000000000.0": "100000000000000000000",
                ][text] ?? text
            let value = try number(text)
            #expect((try? value.require(Int128.self)) == Int128(digits), "\(text)")
            #expect((try? value.require(UInt128.self)) == UInt128(digits) ?? (digits == "-0" ? 0 : nil), "\(text)")
        }
    }

    @Test(arguments: ["1e4294967300", "1e429496730", "1e1000000000", "1e99999999999999999999"])
    func hugeExponentsAreBeyondEveryType(_ text: String) throws {
        #expect(try number(text).double == nil && number(text).int64 == nil)
        #expect(try number(text.replacing("e", with: "e-")).double == 0)
    }

    @Test func numbersBeyondDoubleAreOutOfRange() throws {
        for text in ["1e400", "-1e400", "1.7976931348623159e308", "1" + String(repeating: "0", count: 400)] {
            #expect(try number(text).double == nil)
            let error = #expect(throws: JSONError.self) { try number(text).require(Double.self) }
            #expect(error?.kind == .outOfRange)
        }
    }

    @Test func integersAreExactToSixtyFourBits() throws {
        #expect(try number("9223372036854775807").int64 == .max)
        #expect(try number("-9223372036854775808").int64 == .min)
        #expect(try number("9223372036854775808").int64 == nil)
        #expect(try number("-9223372036854775809").int64 == nil)
        #expect(try number("18446744073709551615").uint64 == .max)
        #expect(try number("18446744073709551616").uint64 == nil)
        #expect(try number("-1").uint64 == nil)
        #expect(try number("-0").uint64 == 0)
        #expect(try number("9007199254740993").int == 9_007_199_254_740_993)
        #expect(try number("1e400").int == nil)
        #expect(try number("0e999999999999999999999").int == 0)
        #expect(try number("1e-999999999999999999999").int == nil)
    }

    @Test func integersAreDistinguishedFromDoubles() throws {
        for text in ["1", "-0", "99999999999999999999999"] { #expect(try number(text).isInteger) }
        for text in ["1.0", "1e0", "1E2", "\"1\"", "true"] { #expect(try !number(text).isInteger) }
        #expect(try number("1.0").int == 1)
        #expect(try number("1.50e1").int == 15)
        #expect(try number("120e-1").int == 12)
        #expect(try number("1.5").int == nil)
        #expect(try number("12000000000000000000000e-3").uint64 == 12_000_000_000_000_000_000)
    }

    @Test func everyIntegerTypeHasItsBounds() throws {
        #expect(try number("127").require(Int8.self) == 127)
        #expect(throws: JSONError.self) { try number("128").require(Int8.self) }
        #expect(try number("-128").require(Int8.self) == -128)
        #expect(try number("255").require(UInt8.self) == 255)
        #expect(throws: JSONError.self) { try number("-1").require(UInt8.self) }
        #expect(try number("65535").require(UInt16.self) == 65535)
        #expect(try number("-2147483648").require(Int32.self) == .min)
        #expect(try number("18446744073709551615").require(UInt.self) == .max)
        #expect(throws: JSONError.self) { try number("1.5").require(Int.self) }
    }

    @Test(arguments: [
        "0", "-0", "-0.000", "12.34", "-0.01", "99999999999999999999999999999999999999", "1e10",
        "1.10", "0.1", "1e-100", "4200.50",
    ])
    func decimalsAreExact(_ text: String) throws {
        #expect(try number(text).decimal == Decimal(string: text))
    }

    @Test(arguments: ["0e200", "-0e400", "0.0e-400", "0e99999999999999999999"])
    func zeroIsADecimalWhateverItsExponent(_ text: String) throws {
        #expect(try number(text).decimal == 0)
        #expect(try number(text).double == 0)
    }

    @Test func decimalsBeyondRangeAreNil() throws {
        #expect(try number("1e400").decimal == nil)
        #expect(throws: JSONError.self) { try number("1e400").require(Decimal.self) }
    }

    @Test func floatsAreRoundedOnce() throws {
        // Rounded to double first, this would become a tie and then go the other way.
        let text = "1.00000005960464477540"
        #expect(try number(text).require(Float.self) == Float(text))
        #expect(throws: JSONError.self) { try number("1e39").require(Float.self) }
    }
}
