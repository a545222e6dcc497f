#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A parsed number: sign, digits and power of ten (RFC 8259 §6).
struct NumberText<Digits: FixedWidthInteger & UnsignedInteger> {
    private(set) var isNegative = false
    /// The leading digits without sign and point, as many as the type can represent.
    private(set) var digits: Digits = 0
    /// The power of ten by which `digits` are multiplied.
    private(set) var exponent = 0
    /// Whether `digits` and `exponent` represent the number exactly; `false` if the number has too many digits.
    private(set) var isExact = true

    /// Parses a number whose grammar was already checked.
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
                let digit = Digits(truncatingIfNeeded: byte &- UInt8(ascii: "0"))
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

    /// Limits the exponent to 10^9. No document within the size limit has enough digits for a larger exponent to
    /// matter.
    private mutating func readExponent(_ bytes: [UInt8], _ start: Int, _ end: Int) {
        var place = start
        let isDown = bytes[place] == UInt8(ascii: "-")
        if isDown || bytes[place] == UInt8(ascii: "+") { place &+= 1 }
        var power = 0
        while place < end {
            // One more digit could overflow a 32-bit `Int`.
            power = power < 100_000_000 ? power &* 10 &+ Int(bytes[place] &- UInt8(ascii: "0")) : 1_000_000_000
            place &+= 1
        }
        exponent &+= isDown ? -power : power
    }

    /// The magnitude if the number is an integer that the digits' type can represent; otherwise `nil`. The notation
    /// does not matter: `1`, `1.0`, `1e2`.
    private var integerMagnitude: Digits? {
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

    /// Returns the number if it is an integer that `T` can represent; otherwise `nil`. `T` must not be wider than the
    /// digits' type.
    func integer<T: FixedWidthInteger>() -> T? {
        guard let magnitude = integerMagnitude else { return nil }
        if !isNegative || magnitude == 0 { return T(exactly: magnitude) }
        // The magnitude of a signed type's minimum is one more than its maximum.
        guard T.isSigned, magnitude <= Digits(T.max) + 1 else { return nil }
        return T(truncatingIfNeeded: 0 &- magnitude)
    }
}

extension NumberText<UInt64> {
    /// Parses an integer of at most 18 bytes, which cannot overflow.
    static func shortInteger(_ bytes: [UInt8], at offset: Int, count: Int) -> Int64 {
        let isNegative = bytes[offset] == UInt8(ascii: "-")
        var value: Int64 = 0
        for place in (isNegative ? offset &+ 1 : offset)..<(offset &+ count) {
            value = value &* 10 &+ Int64(bytes[place] &- UInt8(ascii: "0"))
        }
        return isNegative ? -value : value
    }

    /// The nearest double if one multiplication or division of exact operands yields it (Clinger's fast path);
    /// otherwise `nil`. The single operation rounds once, as IEEE 754 requires.
    var quickDouble: Double? {
        guard isExact, digits <= UInt64(1) << 53, exponent >= -22, exponent <= 22 else { return nil }
        let magnitude = Double(digits)
        let value =
            exponent < 0 ? magnitude / PowersOfTen.doubles[-exponent] : magnitude * PowersOfTen.doubles[exponent]
        return isNegative ? -value : value
    }

    /// The nearest double if the calculation fits in 128 bits; otherwise `nil`. It fits for up to 19 digits, and some
    /// numbers of 20, with magnitudes from 10^-21 to 10^38. The shortest texts of doubles have at most 17 digits.
    var wideDouble: Double? {
        guard isExact, digits != 0, exponent >= -21, exponent <= 19 else { return nil }
        var value = UInt128(digits)
        var power = 0
        var isInexact = false
        if exponent >= 0 {
            // The factors are below 2^64 and 10^19, so the product is below 2^128.
            value *= PowersOfTen.integers[exponent]
        } else {
            // The quotient has more than 56 bits: the numerator has 128 bits, the divisor at most 70.
            power = -value.leadingZeroBitCount
            let (quotient, remainder) = (value << -power).quotientAndRemainder(
                dividingBy: PowersOfTen.integers[-exponent])
            value = quotient
            isInexact = remainder != 0
        }
        let excess = max(64 - value.leadingZeroBitCount, 0)
        if excess > 0 {
            isInexact = isInexact || value.trailingZeroBitCount < excess
            value >>= excess
        }
        // The part that was cut off is less than the lowest bit, and a double is too short to represent that bit.
        // Setting the bit makes the conversion round once, as it would with all digits.
        let significand = Double(UInt64(truncatingIfNeeded: value) | (isInexact ? 1 : 0))
        return Double(sign: isNegative ? .minus : .plus, exponent: power + excess, significand: significand)
    }

    /// The decimal if 38 digits represent the number exactly; otherwise `nil`.
    var quickDecimal: Decimal? {
        if isExact, digits == 0 { return .zero }
        guard isExact, exponent >= -120, exponent <= 100 else { return nil }
        return Decimal(sign: isNegative ? .minus : .plus, exponent: exponent, significand: Decimal(digits))
    }
}

private enum PowersOfTen {
    static let doubles: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]
    static let integers: [UInt128] = (1...21).reduce(into: [1]) { powers, power in powers.append(powers[power - 1] * 10)
    }
}
