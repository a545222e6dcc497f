import HTTPTypes
import Runway

/// The host that a request of a client is for, and its port (RFC 9110 §4.2, §7.2).
struct RequestAuthority {
    /// The host in lower case; an IPv6 address without its brackets.
    let host: String
    /// The port; `nil` if the authority names none.
    let port: Int?

    /// Reads a `Host` field, or the authority of a target in absolute form.
    ///
    /// - Throws: 400 for a user name, a port that has characters other than digits or is too large, and an invalid
    ///   host.
    init(_ text: String) throws(Refusal) {
        guard !text.contains("@") else {
            throw Refusal(.badRequest, "A user's name before the host is an error (RFC 9110 §4.2.4).")
        }
        let problem = Refusal(.badRequest, "The host of the request is malformed (RFC 9110 §7.2).")
        let rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]"), case let address = String(text[..<end].dropFirst()),
                IPAddress(address)?.family == .v6
            else { throw problem }
            host = address.lowercased()
            rest = text[text.index(after: end)...]
        } else {
            let name = text.prefix { $0 != ":" }
            guard !name.isEmpty, name.utf8.allSatisfy(Self.mayStandInName) else { throw problem }
            host = name.lowercased()
            rest = text[name.endIndex...]
        }
        if rest.isEmpty || rest == ":" {
            port = nil
            return
        }
        guard rest.hasPrefix(":"), rest.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(rest.dropFirst()), number <= 65535
        else { throw problem }
        port = number
    }

    /// Whether this is the same host as another; addresses are compared as addresses, however they are written.
    func isHost(_ other: String) -> Bool {
        if let address = IPAddress(host) { return address == IPAddress(other) }
        return host == other.lowercased()
    }

    /// The characters of a registered name (RFC 3986 §3.2.2).
    private static func mayStandInName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~%!$&'()*+,;=".utf8.contains(byte)
        }
    }
}
