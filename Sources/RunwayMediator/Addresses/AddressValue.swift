#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A parameter as an address has it: a name and a value, not percent-encoded.
struct Parameter: Hashable, Sendable {
    let name: String
    let value: String

    /// Compares bytes: for `String` two spellings of "é" are equal.
    static func == (one: Parameter, other: Parameter) -> Bool {
        one.name.isSpelled(other.name) && one.value.isSpelled(other.value)
    }
}

extension String {
    /// Whether both texts have the same bytes.
    func isSpelled(_ other: String) -> Bool {
        // Comparing strings is faster than comparing bytes, and enough for ASCII.
        guard utf8.count == other.utf8.count, self == other else { return false }
        return utf8.allSatisfy { $0 < 0x80 } || utf8.elementsEqual(other.utf8)
    }
}

/// A type whose values stand in addresses.
protocol AddressValue {
    /// Returns `nil` if the text is no value of the type.
    init?(addressText: String)
    /// The value as text, or `nil` if no text reads as the value.
    var addressText: String? { get }
}

extension AddressValue where Self: LosslessStringConvertible {
    init?(addressText: String) { self.init(addressText) }
    var addressText: String? { description }
}

extension AddressValue where Self: BinaryFloatingPoint & LosslessStringConvertible {
    /// Writes whole numbers without a fraction, as JavaScript does.
    var addressText: String? {
        if !isFinite { return nil }
        return self == rounded() && magnitude < 0x1p53 ? Int64(exactly: self)?.description : description
    }
}

extension String: AddressValue {}
extension Bool: AddressValue {}
extension Int: AddressValue {}
extension Int8: AddressValue {}
extension Int16: AddressValue {}
extension Int32: AddressValue {}
extension Int64: AddressValue {}
extension UInt: AddressValue {}
extension UInt8: AddressValue {}
extension UInt16: AddressValue {}
extension UInt32: AddressValue {}
extension UInt64: AddressValue {}
extension Float: AddressValue {}
extension Double: AddressValue {}

extension UUID: AddressValue {
    init?(addressText: String) { self.init(uuidString: addressText) }
    /// In small letters, as RFC 9562 §4 has it.
    var addressText: String? { uuidString.lowercased() }
}
