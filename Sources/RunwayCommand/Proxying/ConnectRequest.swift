import HTTPTypes
import Runway

/// The head of a CONNECT request (RFC 9110 §9.3.6), parsed from bytes.
struct ConnectRequest: Equatable {
    /// A decision whether a connection begins with a CONNECT request.
    enum Beginning: Equatable {
        case tunnel
        /// More bytes are needed to decide.
        case undecided
        case other
    }

    enum Progress: Equatable {
        case incomplete
        /// The head is complete and has `byteCount` bytes. Later bytes belong to the tunnel.
        case complete(ConnectRequest, byteCount: Int)
    }

    private static let start = Array("CONNECT ".utf8)
    private static let end = Array("\r\n\r\n".utf8)

    /// The host in lower case, without brackets.
    let host: String
    let port: Int

    /// Returns whether these first bytes of a connection are a CONNECT request.
    static func beginning(_ bytes: some Collection<UInt8>) -> Beginning {
        let common = zip(bytes, start).prefix { $0 == $1 }.count
        if common == start.count { return .tunnel }
        return common == bytes.count ? .undecided : .other
    }

    /// Parses the head if it is complete.
    ///
    /// - Parameter count: The number of bytes that earlier reads returned. These bytes do not complete the head.
    /// - Throws: The response to a head that is malformed, or larger than ``ProxyChannel/maximumHeadByteCount``.
    static func read(_ bytes: [UInt8], after count: Int) throws(Refusal) -> Progress {
        guard let end = bytes[max(0, count - Self.end.count + 1)...].firstRange(of: end) else {
            guard bytes.count <= ProxyChannel.maximumHeadByteCount else { throw tooLarge }
            return .incomplete
        }
        guard end.upperBound <= ProxyChannel.maximumHeadByteCount else { throw tooLarge }
        let line = bytes.prefix { $0 != 0x0D }
        return .complete(try ConnectRequest(line: line), byteCount: end.upperBound)
    }

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Parses the request line. Its target has authority-form, with a port (RFC 9112 §3.2.3).
    private init(line: ArraySlice<UInt8>) throws(Refusal) {
        let words = line.split(separator: 0x20, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard words.count == 3, ["HTTP/1.1", "HTTP/1.0"].contains(words[2]) else {
            throw Refusal(.badRequest, "This is not an HTTP/1.1 request for a tunnel.")
        }
        let authority = try RequestAuthority(words[1])
        guard let port = authority.port, port > 0 else {
            throw Refusal(.badRequest, "CONNECT needs a host and a port (RFC 9112 §3.2.3).")
        }
        self.init(host: authority.host, port: port)
    }

    private static let tooLarge = Refusal(
        .requestHeaderFieldsTooLarge,
        "The head of the request is larger than \(ProxyChannel.maximumHeadByteCount) bytes.")
}

/// The host and port to which a request is addressed (RFC 9110 §4.2, §7.2).
struct RequestAuthority {
    /// The host in lower case. An IPv6 address has no brackets.
    let host: String
    /// The port; `nil` if the authority does not name one.
    let port: Int?

    /// Parses a `Host` field, or the authority of a target in absolute-form.
    ///
    /// - Throws: A 400 response if there is a user name, the port is not from 1 to 65535, or the host is invalid.
    init(_ text: String) throws(Refusal) {
        do throws(URIAuthority.Problem) {
            let authority = try URIAuthority(text.utf8)
            (host, port) = (authority.bareHost.lowercased(), authority.port)
        } catch {
            throw Refusal(.badRequest, "The host of the request can't be used (RFC 9110 §4.2, §7.2): \(error).")
        }
    }

    /// Whether two hosts are equal. Addresses are equal even if they are written differently.
    func isHost(_ other: String) -> Bool {
        if let address = IPAddress(host) { return address == IPAddress(other) }
        return host == other.lowercased()
    }
}
