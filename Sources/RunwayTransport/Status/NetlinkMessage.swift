/// A message of the Linux kernel about links and routes (rtnetlink). Lengths in the bytes are not trusted.
struct NetlinkMessage {
    /// The kernel's numbers for kinds of messages.
    enum Kind {
        static let error: UInt16 = 2
        static let done: UInt16 = 3
        static let newLink: UInt16 = 16
        static let getLink: UInt16 = 18
        static let newRoute: UInt16 = 24
        static let getRoute: UInt16 = 26
    }

    /// Set by the kernel if the table changed while it was read.
    static let interruptedFlag: UInt16 = 0x10
    private static let headerByteCount = 16

    let kind: UInt16
    let flags: UInt16
    let sequence: UInt32
    /// The bytes after the message header.
    let content: ArraySlice<UInt8>

    /// Returns the messages of one datagram, up to the first inconsistent one.
    static func messages(in datagram: [UInt8]) -> [NetlinkMessage] {
        var messages: [NetlinkMessage] = []
        var rest = datagram[...]
        while rest.count >= headerByteCount,
            let length = rest.number(at: 0, as: UInt32.self).flatMap({ Int(exactly: $0) }),
            (headerByteCount...rest.count).contains(length)
        {
            messages.append(
                NetlinkMessage(
                    kind: rest.number(at: 4, as: UInt16.self) ?? 0, flags: rest.number(at: 6, as: UInt16.self) ?? 0,
                    sequence: rest.number(at: 8, as: UInt32.self) ?? 0,
                    content: rest[(rest.startIndex + headerByteCount)..<(rest.startIndex + length)]))
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return messages
    }

    /// Returns the attributes after a fixed part of `byteCount` bytes, by number. If a number occurs twice, the first
    /// attribute counts.
    func attributes(after byteCount: Int) -> [UInt16: ArraySlice<UInt8>] {
        var attributes: [UInt16: ArraySlice<UInt8>] = [:]
        var rest = content.dropFirst((byteCount + 3) & ~3)
        while let length = rest.number(at: 0, as: UInt16.self).map(Int.init),
            let kind = rest.number(at: 2, as: UInt16.self),
            (4...rest.count).contains(length)
        {
            // The two highest bits of the number are flags.
            if attributes[kind & 0x3FFF] == nil {
                attributes[kind & 0x3FFF] = rest[(rest.startIndex + 4)..<(rest.startIndex + length)]
            }
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return attributes
    }

    /// Returns a request for a whole table, for all address families.
    static func dump(_ kind: UInt16, sequence: UInt32) -> [UInt8] {
        let (isRequest, isDump): (UInt16, UInt16) = (0x1, 0x300)
        // The request has one byte for the address family, with padding.
        let byteCount = headerByteCount + 4
        return bytes(of: UInt32(byteCount)) + bytes(of: kind) + bytes(of: isRequest | isDump) + bytes(of: sequence)
            + bytes(of: UInt32(0)) + [0, 0, 0, 0]
    }

    /// Returns the bytes of a number in the machine's byte order, as the kernel expects.
    static func bytes<Number: FixedWidthInteger>(of number: Number) -> [UInt8] {
        withUnsafeBytes(of: number) { Array($0) }
    }
}

extension ArraySlice<UInt8> {
    /// Returns the number at `offset` in the machine's byte order, or `nil` if it extends past the end.
    func number<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type) -> Number? {
        guard offset >= 0, count - offset >= MemoryLayout<Number>.size else { return nil }
        return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
    }
}
