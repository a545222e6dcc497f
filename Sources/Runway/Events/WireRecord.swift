/// The measurements of the transport for one request: the connection, the duration of each phase, and the bytes sent
/// and received.
///
/// An unknown value is `nil`, never 0. The times of ``dns``, ``tcp`` and ``tls`` belong to the connection and are
/// recorded only for the request that opened it; they are `nil` for a request on an existing connection.
public struct WireRecord: Sendable, Equatable {
    /// Whether the connection was there already.
    public var isReused: Bool?
    /// The address that was dialled, with its port; the address of the proxy if one is used.
    public var address: String?
    /// Every address that was dialled for the connection, in order, recorded only for the request that opened it; empty
    /// if that is unknown. The one that won is ``address``.
    package var dialed: [DialedAddress] = []
    /// The version of TLS, such as `TLSv1.3`; `nil` without TLS.
    public var tlsVersion: String?
    /// The time that the request waited for a connection, which includes the three that follow.
    public var queueing: Duration?
    /// The time that the lookup of the host's addresses took.
    public var dns: Duration?
    /// The time that the TCP connection took.
    public var tcp: Duration?
    /// The time that the TLS handshake took.
    public var tls: Duration?
    /// The time from the first byte of the request to its last, as they were passed to the system.
    public var sending: Duration?
    /// The time from the end of the request to the first byte of the response's head.
    public var waiting: Duration?
    /// The time from the first byte of the response's head to the end of its body.
    public var receiving: Duration?
    /// The bytes of the request as they were sent, head and framing included, before TLS.
    public var sentByteCount: Int?
    /// The bytes of the response as received, including head, framing and content coding, after TLS.
    public var receivedByteCount: Int?
    /// The statuses of the interim responses before the final one, such as 103, in order. At most 16 are stored.
    public var informationalStatuses: [Int] = []

    /// The number of times that the request was moved to another connection because the server had closed the first one
    /// before the response, or reported that it had not processed the request.
    public var moveCount = 0

    /// Starts without any measurement, to be filled by a transport.
    public init() {}

    /// The phases in their order: the name of each in the record's text and in JSON, and its time.
    static let phases: [(name: String, time: any KeyPath<WireRecord, Duration?> & Sendable)] = [
        ("queueing", \.queueing), ("dns", \.dns), ("tcp", \.tcp), ("tls", \.tls), ("sending", \.sending),
        ("waiting", \.waiting), ("receiving", \.receiving),
    ]
}

extension WireRecord: CustomStringConvertible {
    /// One line in the manner of curl's timings: the connection, the times, the bytes.
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

/// An address that was dialled for a connection, whether it won or not.
package struct DialedAddress: Sendable, Equatable, CustomStringConvertible {
    /// The address, without a port.
    package var address: String
    /// The time at which the address was dialled, counted from the beginning of the dial, which includes the lookup of
    /// the host.
    package var start: Duration

    /// Records that an address is dialled from an instant on.
    package init(_ address: String, at start: Duration) {
        self.address = address
        self.start = start
    }

    /// The address and when it was dialled, such as `203.0.113.7 after 250 ms`.
    package var description: String { "\(address) after \(start.text)" }
}
