#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A number as it is written: sign, digits, power of ten (RFC 8259 §6).
struct NumberText {
    private(set) var isNegative = false
    /// The digits without sign and point, as far as 64 bits hold them.
    private(set) var digits: UInt64 = 0
    /// The power of ten that `digits` stand for.
    private(set) var exponent = 0
    /// Whether `digits` and `exponent` say the number exactly; false when there are too many digits.
    private(set) var isExact = true

    /// Reads a number that the grammar was checked of.
    init(_ bytes: [UInt8], at offset: Int, count: Int) {
        var place = offset
        let end = offset &+ count
        if bytes[place] == UInt8(ascii: "-") {
            isNegative = true
            place &+= 1
        }
        var isFull = false
        var isFraction = false
        while place < end {
            let byte = bytes[place]
            if byte == UInt8(ascii: ".") {
                isFraction = true
            } else if byte | 0x20 == UInt8(ascii: "e") {
                readExponent(bytes, place &+ 1, end)
                return
            } else {
                let digit = UInt64(byte &- UInt8(ascii: "0"))
                if !isFull {
                    let (tenfold, overflowed) = digits.multipliedReportingOverflow(by: 10)
                    let (sum, carried) = tenfold.addingReportingOverflow(digit)
                    isFull = overflowed || carried
                    if !isFull {
                        digits = sum
                        if isFraction { exponent &-= 1 }
                    }
                }
                if isFull {
                    if digit != 0 { isExact = false }
                    if !isFraction { exponent &+= 1 }
                }
            }
            place &+= 1
        }
    }

    /// An integer of at most 18 bytes, which cannot overflow.
    static func shortInteger(_ bytes: [UInt8], at offset: Int, count: Int) -> Int64 {
        let isNegative = bytes[offset] == UInt8(ascii: "-")
        var value: Int64 = 0
        for place in (isNegative ? offset &+ 1 : offset)..<(offset &+ count) {
            value = value &* 10 &+ Int64(bytes[place] &- UInt8(ascii: "0"))
        }
        return isNegative ? -value : value
    }

    /// An exponent beyond a billion changes nothing any more, whatever the digits are within our size limit.
    private mutating func readExponent(_ bytes: [UInt8], _ start: Int, _ end: Int) {
        var place = start
        let isDown = bytes[place] == UInt8(ascii: "-")
        if isDown || bytes[place] == UInt8(ascii: "+") { place &+= 1 }
        var power = 0
        while place < end {
            power = min(power &* 10 &+ Int(bytes[place] &- UInt8(ascii: "0")), 1_000_000_000)
            place &+= 1
        }
        exponent &+= isDown ? -power : power
    }

    /// The magnitude when the number is an integer below 2^64, however it is written: `1`, `1.0`, `1e2`.
    var integerMagnitude: UInt64? {
        guard isExact else { return nil }
        var value = digits
        var power = exponent
        if value == 0 { return 0 }
        while power < 0 {
            let (quotient, remainder) = value.quotientAndRemainder(dividingBy: 10)
            guard remainder == 0 else { return nil }
            value = quotient
            power += 1
        }
        while power > 0 {
            let (tenfold, overflowed) = value.multipliedReportingOverflow(by: 10)
            if overflowed { return nil }
            value = tenfold
            power -= 1
        }
        return value
    }

    var int64: Int64? {
        guard let magnitude = integerMagnitude else { return nil }
        if !isNegative { return Int64(exactly: magnitude) }
        return magnitude <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
    }

    var uint64: UInt64? {
        guard let magnitude = integerMagnitude, !isNegative || magnitude == 0 else { return nil }
        return magnitude
    }

    /// The nearest double where one multiplication or division of exact operands gives it, which rounds once, as
    /// IEEE 754 demands (Clinger's fast path); nil where it takes more than that.
    var quickDouble: Double? {
        guard isExact, digits <= 1 << 53, exponent >= -22, exponent <= 22 else { return nil }
        let magnitude = Double(digits)
        let value = exponent < 0 ? magnitude / Self.powersOfTen[-exponent] : magnitude * Self.powersOfTen[exponent]
        return isNegative ? -value : value
    }

    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    /// The decimal where its 38 digits hold the number exactly from what was read.
    var quickDecimal: Decimal? {
        guard isExact, exponent >= -120, exponent <= 100 else { return nil }
        return Decimal(sign: isNegative ? .minus : .plus, exponent: exponent, significand: Decimal(digits))
    }
}
