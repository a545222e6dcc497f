import HTTPTypes

/// Writes the metadata of a ``CacheTierEntry``. Numbers have eight bytes, least significant first. Texts and lists are
/// preceded by their counts.
struct TierRecordWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }

    /// Writes a duration, rounded down to nanoseconds.
    mutating func write(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        write(UInt64(bitPattern: seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000))
    }

    mutating func write(_ text: String) { write(Array(text.utf8)) }

    mutating func write(_ octets: [UInt8]) {
        write(UInt64(octets.count))
        bytes.append(contentsOf: octets)
    }

    mutating func write(_ head: HTTPResponse) {
        write(UInt64(head.status.code))
        write(head.status.reasonPhrase)
        write(UInt64(head.headerFields.count))
        for field in head.headerFields {
            write(field.name.rawName)
            write(field.value)
        }
    }
}

/// Reads the bytes that a ``TierRecordWriter`` wrote. Every read returns `nil` if the bytes do not have the expected
/// form.
struct TierRecordReader {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    var isAtEnd: Bool { bytes.isEmpty }

    mutating func number() -> UInt64? {
        guard bytes.count >= 8 else { return nil }
        defer { bytes = bytes.dropFirst(8) }
        return bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func duration() -> Duration? { number().map { .nanoseconds(Int64(bitPattern: $0)) } }

    /// Reads a number, such as the count of a list. Returns `nil` if it exceeds a limit.
    mutating func count(upTo limit: Int) -> Int? {
        number().flatMap { Int(exactly: $0) }.flatMap { $0 <= limit ? $0 : nil }
    }

    mutating func text() -> String? { octets().map { String(decoding: $0, as: UTF8.self) } }

    mutating func octets() -> [UInt8]? {
        guard let count = count(upTo: bytes.count) else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return Array(bytes.prefix(count))
    }

    mutating func head() -> HTTPResponse? {
        guard let code = count(upTo: 999), let phrase = text(), let fieldCount = count(upTo: bytes.count) else {
            return nil
        }
        var fields = HTTPFields()
        for _ in 0..<fieldCount {
            guard let name = text().flatMap({ HTTPField.Name($0) }), let value = text() else { return nil }
            fields.append(HTTPField(name: name, value: value))
        }
        return HTTPResponse(status: HTTPResponse.Status(code: code, reasonPhrase: phrase), headerFields: fields)
    }
}

extension CacheTierEntry {
    init(_ value: WriteBehindQueue.Value, launch: UInt64) {
        switch value {
        case .call(let response): self = CallRecord.entry(response)
        case .target(_, _, let responses): self = TargetRecord.entry(responses, launch: launch)
        }
    }
}
