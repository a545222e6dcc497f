/// The transport's measurements for one request: the connection, the duration of each phase, and the bytes sent and
/// received.
///
/// An unknown value is `nil`, never 0. The times ``dns``, ``tcp`` and ``tls`` belong to the connection. They are
/// recorded only for the request that opened the connection, and are `nil` for later requests.
public struct WireRecord: Sendable, Equatable {
    /// Whether the request used an existing connection; `nil` if unknown.
    public var isReused: Bool?
    /// The address of the connection, with the port. If a proxy is used, it is the proxy's address. `nil` if unknown.
    public var address: String?
    /// The addresses that were dialled for the connection, in order. Recorded only for the request that opened the
    /// connection; empty if unknown. ``address`` is the one that connected first.
    package var dialed: [DialedAddress] = []
    /// The TLS version, such as `TLSv1.3`; `nil` if the connection does not use TLS.
    public var tlsVersion: String?
    /// The time that the request waited for a connection, including ``dns``, ``tcp`` and ``tls``.
    public var queueing: Duration?
    /// The time that the DNS lookup took.
    public var dns: Duration?
    /// The time that it took to open the TCP connection.
    public var tcp: Duration?
    /// The time that the TLS handshake took.
    public var tls: Duration?
    /// The time from the first to the last byte of the request, measured when bytes are passed to the system.
    public var sending: Duration?
    /// The time from the end of the request to the first byte of the response.
    public var waiting: Duration?
    /// The time from the first byte of the response to the end of its body.
    public var receiving: Duration?
    /// The number of bytes sent for the request, including header fields and framing, before TLS encryption.
    public var sentByteCount: Int?
    /// The number of bytes received for the response, including header fields, framing and content coding, after TLS
    /// decryption.
    public var receivedByteCount: Int?
    /// The statuses of the interim responses (1xx), such as 103, in order. At most 16 are stored.
    public var informationalStatuses: [Int] = []

    /// The number of times that the request was moved to another connection. This happens if the server closed the
    /// connection before the response, or reported that it had not processed the request.
    public var moveCount = 0

    /// Creates a record without measurements. A transport sets them.
    public init() {}

    /// The phases of a request in order. Each has a name for the record's text and JSON, and a key path to its time.
    static let phases: [(name: String, time: any KeyPath<WireRecord, Duration?> & Sendable)] = [
        ("queueing", \.queueing), ("dns", \.dns), ("tcp", \.tcp), ("tls", \.tls), ("sending", \.sending),
        ("waiting", \.waiting), ("receiving", \.receiving),
    ]
}

extension WireRecord: CustomStringConvertible {
    /// One line in the style of curl's timings: the connection, the times, and the bytes.
    public var description: String {
        var texts: [String] = []
        switch isReused {
        case true?: texts.append("reused connection")
        case false?: texts.append("new connection")
        case nil: break
        }
        if moveCount > 0 { texts.append("moved \(moveCount)×") }
        if let address { texts.append("to \(address)") }
        if dialed.count > 1 { texts.append("dialled " + dialed.map(\.description).joined(separator: " and ")) }
        if let tlsVersion { texts.append(tlsVersion) }
        for (name, time) in Self.phases {
            if let time = self[keyPath: time] { texts.append("\(name) \(time.text)") }
        }
        if let sentByteCount { texts.append("\(sentByteCount) bytes up") }
        if let receivedByteCount { texts.append("\(receivedByteCount) bytes down") }
        if !informationalStatuses.isEmpty {
            texts.append("after " + informationalStatuses.map(String.init).joined(separator: ", "))
        }
        return texts.joined(separator: ", ")
    }
}

/// An address that was dialled for a connection, even if another address connected first.
package struct DialedAddress: Sendable, Equatable, CustomStringConvertible {
    package var address: String
    /// The time from the start of connecting until the address was dialled. Connecting includes the DNS lookup.
    package var start: Duration

    package init(_ address: String, at start: Duration) {
        self.address = address
        self.start = start
    }

    /// The address and its start, such as `203.0.113.7 after 250 ms`.
    package var description: String { "\(address) after \(start.text)" }
}
