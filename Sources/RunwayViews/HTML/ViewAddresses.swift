/// The addresses from which a view may show images. Data fill addresses, so that they are not trusted.
///
/// A file of the bundle, such as `images/coupon.png`, is always allowed: a path without scheme, dots for folders above
/// and escapes.
public struct ViewAddresses: Sendable, Hashable {
    /// The allowed schemes, in small letters.
    public let schemes: Set<String>
    /// The allowed hosts, in small letters; `nil` for all.
    public let hosts: Set<String>?

    /// All hosts, by `https`.
    public static let https = ViewAddresses(hosts: nil)

    /// Creates a list.
    ///
    /// - Parameters:
    ///   - schemes: The allowed schemes. Only addresses with `//` and a host after the scheme are allowed, so that
    ///     `data` and `javascript` have no effect. The default is `https`.
    ///   - hosts: The allowed hosts; `nil` for all.
    public init(schemes: Set<String> = ["https"], hosts: Set<String>?) {
        (self.schemes, self.hosts) = (Set(schemes.filter(Self.isScheme)), hosts)
    }

    private static func isScheme(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || isDigit($0) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// Returns whether an address is a file of the bundle, or has an allowed scheme and an allowed host, and no user
    /// and password. Only ASCII is allowed.
    public func allows(_ address: String) -> Bool {
        let bytes = Array(address.utf8)
        guard bytes.count <= 4096, bytes.allSatisfy({ (0x21...0x7E).contains($0) && !#""'<>\^`{|}"#.utf8.contains($0) })
        else { return false }
        guard let colon = address.firstRange(of: "://") else { return Self.isFile(address) }
        guard schemes.contains(address[..<colon.lowerBound].lowercased()) else { return false }
        let authority = address[colon.upperBound...].prefix { !"/?#".contains($0) }
        let host = authority.prefix { $0 != ":" }
        let port = authority.dropFirst(host.count).dropFirst()
        guard !host.isEmpty,
            host.utf8.allSatisfy({ Self.isLetter($0) || Self.isDigit($0) || $0 == 0x2D || $0 == 0x2E }),
            port.utf8.count <= 5, port.utf8.allSatisfy(Self.isDigit)
        else { return false }
        return hosts?.contains(host.lowercased()) ?? true
    }

    private static func isFile(_ address: String) -> Bool {
        guard address.utf8.allSatisfy({ isLetter($0) || isDigit($0) || "-_./".utf8.contains($0) }) else { return false }
        return address.split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
            !$0.isEmpty && $0 != "." && $0 != ".."
        }
    }
}
