/// Limits for a list of addresses, regardless of its source.
public struct HostListPolicy: Sendable, Hashable {
    /// Whether any host may have any address, for development and private networks. The default is `false`: only a
    /// private name may have a private address. Private names are `localhost`, names with a single label, and names
    /// below `localhost`, `local`, `internal`, `home.arpa` and `test`.
    public let allowsPrivateAddresses: Bool
    /// Whether the list also applies to plain `http`. The default is `false`: without TLS a wrong address would not be
    /// detected.
    public let coversPlainHTTP: Bool
    /// The maximum size of a list in bytes. The default is 256 KiB; at most 1 GiB.
    public let maximumByteCount: Int
    /// The maximum number of hosts in a list. The default is 256; at least 1.
    public let maximumHosts: Int
    /// The maximum number of addresses of one host. The default is 32; at least 1.
    public let maximumAddressesPerHost: Int

    /// Creates a policy. The properties state the defaults. Limits below 1 are raised to 1.
    public init(
        allowsPrivateAddresses: Bool = false, coversPlainHTTP: Bool = false, maximumByteCount: Int = 256 << 10,
        maximumHosts: Int = 256, maximumAddressesPerHost: Int = 32
    ) {
        self.allowsPrivateAddresses = allowsPrivateAddresses
        self.coversPlainHTTP = coversPlainHTTP
        self.maximumByteCount = min(max(1, maximumByteCount), 1 << 30)
        self.maximumHosts = max(1, maximumHosts)
        self.maximumAddressesPerHost = max(1, maximumAddressesPerHost)
    }

    /// The policy with all defaults.
    public static let standard = HostListPolicy()

    /// Returns whether a name belongs to the public DNS.
    static func isPublicName(_ name: String) -> Bool {
        let labels = name.split(separator: ".")
        guard labels.count > 1 else { return false }
        if labels.suffix(2) == ["home", "arpa"] { return false }
        return !["localhost", "local", "internal", "test"].contains(labels.last)
    }

    /// Returns whether a text is a host name in lower case: labels of letters, digits and hyphens (RFC 1123 §2.1).
    /// Wildcards, addresses and ports are invalid.
    static func isHostName(_ name: String) -> Bool {
        guard (1...253).contains(name.utf8.count), IPAddress(name) == nil else { return false }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                        UInt8(ascii: "-"):
                        true
                    default: false
                    }
                }
            // Some parsers read a name that ends in a number as an address (WHATWG URL, "ends in a number").
        } && labels.last?.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } == false
    }
}
