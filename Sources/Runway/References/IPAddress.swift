import Foundation

/// An IPv4 or IPv6 address, without a port and without a zone.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// The protocol version of an address.
    package enum Family: String, Sendable, Hashable {
        case v4
        case v6
    }

    package let family: Family
    private let high: UInt64
    private let low: UInt64

    /// Parses an address such as `203.0.113.7` or `2001:db8::7`. Returns `nil` for any other text, including brackets,
    /// zones, octal numbers and names.
    public init?(_ text: String) {
        // The system's parser would stop at a zero byte and ignore the rest.
        guard text.utf8.count <= 45, !text.utf8.contains(0) else { return nil }
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            self.init(family: .v4, bytes: withUnsafeBytes(of: v4) { Array($0) })
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            self.init(family: .v6, bytes: withUnsafeBytes(of: v6) { Array($0) })
        } else {
            return nil
        }
    }

    private init(family: Family, bytes: [UInt8]) {
        let number = { (bytes: ArraySlice<UInt8>) in bytes.reduce(0 as UInt64) { $0 << 8 | UInt64($1) } }
        self.family = family
        high = family == .v4 ? 0 : number(bytes[..<8])
        low = family == .v4 ? number(bytes[...]) : number(bytes[8...])
    }

    /// Creates the IPv4 address with these 32 bits.
    package init(v4 bits: UInt32) {
        family = .v4
        high = 0
        low = UInt64(bits)
    }

    /// The bytes of the address in network byte order: 4 or 16.
    public var bytes: [UInt8] {
        let words = (family == .v4 ? [] : [high]) + [low]
        return Array(
            words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
                .suffix(family == .v4 ? 4 : 16))
    }

    /// The address in the canonical form of RFC 5952, such as `2001:db8::7`.
    public var description: String {
        var text = [CChar](repeating: 0, count: 64)
        let kind = family == .v4 ? AF_INET : AF_INET6
        guard inet_ntop(kind, bytes, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether this is a loopback address: 127.0.0.0/8 (RFC 1122 §3.2.1.3), `::1` (RFC 4291 §2.5.3), or an IPv4
    /// loopback address mapped into IPv6 (RFC 4291 §2.5.5.2).
    public var isLoopback: Bool {
        if family == .v4 { return low >> 24 == 127 }
        return high == 0 && (low == 1 || (low >> 32 == 0xFFFF && low >> 24 & 0xFF == 127))
    }

    /// Whether the address can belong to a server on the internet, not to the device itself, a neighbour or a group.
    ///
    /// Loopback, private (RFC 1918, RFC 4193), shared (RFC 6598), link-local, multicast, unspecified and reserved
    /// addresses are not public. Nor are IPv6 addresses that embed such an IPv4 address. Addresses for documentation
    /// count as public, because they are harmless.
    public var isPublic: Bool {
        switch family {
        case .v4:
            let isSpecial = Self.specialV4.contains { low >> (32 - $0.length) == UInt64($0.bits) >> (32 - $0.length) }
            return !isSpecial
        case .v6:
            if let carried { return carried.isPublic }
            // Addresses outside 2000::/3 are not global unicast (RFC 4291 §2.4): ::1, fc00::/7, fe80::/10, ff00::/8.
            return high >> 61 == 1
        }
    }

    /// The IPv4 address that is mapped into this IPv6 address (RFC 4291 §2.5.5.2); otherwise this address itself. Both
    /// lead to the same machine.
    package var unmapped: IPAddress {
        high == 0 && low >> 32 == 0xFFFF ? IPAddress(v4: UInt32(truncatingIfNeeded: low)) : self
    }

    /// The IPv4 address that is embedded in this IPv6 address, if the IPv6 address is mapped, translated (RFC 6052) or
    /// a 6to4 address (RFC 3056).
    private var carried: IPAddress? {
        if unmapped != self { return unmapped }
        if high == 0x0064_FF9B_0000_0000, low >> 32 == 0 { return IPAddress(v4: UInt32(truncatingIfNeeded: low)) }
        if high >> 48 == 0x2002 { return IPAddress(v4: UInt32(truncatingIfNeeded: high >> 16)) }
        return nil
    }

    /// The IPv4 blocks that are not on the internet (RFC 6890), as prefix and prefix length. The last one is the
    /// address at which virtual machines on Azure reach their host.
    private static var specialV4: [(bits: UInt32, length: UInt64)] {
        [
            (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16),
            (0xAC10_0000, 12), (0xC000_0000, 24), (0xC0A8_0000, 16), (0xC612_0000, 15), (0xE000_0000, 4),
            (0xF000_0000, 4), (0xA83F_8110, 32),
        ]
    }
}
