/// A frame of HTTP/2, as bytes (RFC 9113 §4).
struct RawFrame: Sendable, Equatable {
    enum Kind: UInt8 {
        case data, headers, priority, reset, settings, pushPromise, ping, goAway, windowUpdate, continuation
    }

    var kind: UInt8
    var flags: UInt8 = 0
    var stream = 0
    var payload: [UInt8] = []

    static let endStream: UInt8 = 1
    static let ack: UInt8 = 1
    static let endHeaders: UInt8 = 4
    /// The header block of a response of status 200 and nothing else (RFC 7541, appendix A).
    static let ok: [UInt8] = [0x88]

    init(_ kind: Kind, flags: UInt8 = 0, stream: Int = 0, _ payload: [UInt8] = []) {
        self.kind = kind.rawValue
        self.flags = flags
        self.stream = stream
        self.payload = payload
    }

    /// The first frame of these bytes, which is taken from them; `nil` where it is not complete.
    init?(from bytes: inout [UInt8]) {
        guard bytes.count >= 9 else { return nil }
        let length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
        guard bytes.count >= 9 + length else { return nil }
        kind = bytes[3]
        flags = bytes[4]
        stream = bytes[5..<9].reduce(0) { $0 << 8 | Int($1) } & 0x7FFF_FFFF
        payload = Array(bytes[9..<9 + length])
        bytes.removeFirst(9 + length)
    }

    var bytes: [UInt8] {
        let length = payload.count
        return [
            UInt8(truncatingIfNeeded: length >> 16), UInt8(truncatingIfNeeded: length >> 8),
            UInt8(truncatingIfNeeded: length),
        ]
            + [kind, flags] + Self.number(stream) + payload
    }

    func `is`(_ kind: Kind) -> Bool { self.kind == kind.rawValue }

    /// The first four bytes of the payload as a number.
    var number: Int { payload.prefix(4).reduce(0) { $0 << 8 | Int($1) } }

    /// The settings that the frame holds, by their numbers.
    var settings: [Int: Int] {
        var settings: [Int: Int] = [:]
        for start in stride(from: 0, to: payload.count - 5, by: 6) {
            let item = payload[start..<start + 6]
            settings[item.prefix(2).reduce(0) { $0 << 8 | Int($1) }] = item.dropFirst(2).reduce(0) { $0 << 8 | Int($1) }
        }
        return settings
    }

    static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    static func settings(_ settings: [Int: Int] = [:]) -> RawFrame {
        RawFrame(
            .settings,
            settings.sorted { $0.key < $1.key }.flatMap {
                [UInt8($0.key >> 8), UInt8($0.key & 255)] + number($0.value)
            })
    }

    static let settingsAck = RawFrame(.settings, flags: ack)

    static func headers(_ stream: Int, _ block: [UInt8] = ok, isLast: Bool = false) -> RawFrame {
        RawFrame(.headers, flags: endHeaders | (isLast ? endStream : 0), stream: stream, block)
    }

    static func data(_ stream: Int, _ text: String, isLast: Bool = true) -> RawFrame {
        RawFrame(.data, flags: isLast ? endStream : 0, stream: stream, Array(text.utf8))
    }

    static func reset(_ stream: Int, _ code: Int) -> RawFrame { RawFrame(.reset, stream: stream, number(code)) }

    static func goAway(last: Int, code: Int = 0) -> RawFrame { RawFrame(.goAway, number(last) + number(code)) }
}

/// A header block of literal fields, none of them indexed and none compressed (RFC 7541 §6.2.2).
func rawBlock(_ fields: [(String, String)]) -> [UInt8] { rawBlock(fields.map { ($0.0, Array($0.1.utf8)) }) }

/// The same, of values that need not be text.
func rawBlock(_ fields: [(String, [UInt8])]) -> [UInt8] {
    func text(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.count < 127 { return [UInt8(bytes.count)] + bytes }
        var rest = bytes.count - 127
        var length: [UInt8] = [127]
        while rest >= 128 {
            length.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return length + [UInt8(rest)] + bytes
    }
    return fields.flatMap { [0] + text(Array($0.0.utf8)) + text($0.1) }
}
