/// An address that was dialled for a connection, whether it won or not.
public struct DialedAddress: Sendable, Equatable, CustomStringConvertible {
    /// The address, without a port.
    public var address: String
    /// When it was dialled, counted from the beginning of the dial, which the lookup of the host is a part of.
    public var start: Duration

    /// Records that an address is dialled from an instant on.
    public init(_ address: String, at start: Duration) {
        self.address = address
        self.start = start
    }

    /// The address and when it was dialled, such as `203.0.113.7 after 250 ms`.
    public var description: String { "\(address) after \(start.text)" }
}
