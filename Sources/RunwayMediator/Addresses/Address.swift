/// An address that belongs to the app, in its parts, before a page is looked up.
struct Address: Sendable {
    /// Bounds of an address. A longer one is neither read nor written.
    enum Limit {
        static let bytes = 4096
        static let segments = 16
        static let parameters = 32
    }

    /// The origins whose addresses the app opens.
    struct Origins: Sendable {
        /// The app's own scheme, in small letters.
        let scheme: String
        /// The host of the web site, in small letters.
        let host: String?
    }

    /// Whether the address is one of the web site, and not of the app's own scheme.
    let isOfSite: Bool
    /// The decoded segments; the first one of the app's own scheme is the host.
    let path: [String]
    private let query: ArraySlice<UInt8>?

    /// Splits a URL by RFC 3986 §3, of which only ASCII characters are accepted that may stand where they are.
    ///
    /// - Throws: ``MediatorError/Kind/malformed``, ``MediatorError/Kind/foreign``; ``MediatorError/Kind/notFound`` if
    ///   the site may have the address, and no page can.
    init(_ text: String, at origins: Origins) throws(MediatorError) {
        guard text.utf8.count <= Limit.bytes else { throw Self.malformed("has more than \(Limit.bytes) bytes") }
        let bytes = Array(text.utf8)
        var hasEscape = false
        for byte in bytes {
            guard Percent.isAllowed(byte) else { throw Self.malformed("has a character that must be encoded") }
            if byte == UInt8(ascii: "%") { hasEscape = true }
        }
        guard !hasEscape || Percent.decode(bytes[...]) != nil else {
            throw Self.malformed("has an escape that is incomplete, NUL or not UTF-8")
        }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0 else {
            throw Self.malformed("has no scheme")
        }
        let scheme = bytes[..<colon]
        isOfSite = origins.host != nil && Self.isSame(scheme, "https")
        guard isOfSite || Self.isSame(scheme, origins.scheme) else {
            throw MediatorError(.foreign, "the scheme is not the app's")
        }
        let slash = UInt8(ascii: "/")
        guard bytes.count > colon + 2, bytes[colon + 1] == slash, bytes[colon + 2] == slash else {
            throw Self.malformed("has no host")
        }

        var rest = bytes[(colon + 3)...]
        let fragment = rest.firstIndex(of: UInt8(ascii: "#"))
        if let fragment { rest = rest[..<fragment] }
        let mark = rest.firstIndex(of: UInt8(ascii: "?"))
        query = mark.map { rest[($0 + 1)...] }
        if let mark { rest = rest[..<mark] }
        let authority = rest.prefix { $0 != slash }
        guard authority.allSatisfy(Percent.isUnreserved) else {
            throw Self.malformed("has a user, a port or a host with escapes")
        }
        guard !isOfSite || origins.host.map({ Self.isSame(authority, $0) }) == true else {
            throw MediatorError(.foreign, "the host is not the site's")
        }

        // An address of the site that can't be a page is shown by the site.
        let refusal = isOfSite ? MediatorError.Kind.notFound : .malformed
        guard fragment == nil else { throw MediatorError(refusal, "the address has a fragment") }
        var path: [String] = []
        path.reserveCapacity(4)
        if !isOfSite { path.append(Self.lowercased(authority)) }
        rest = rest.dropFirst(authority.count)
        var depth = 1
        while !rest.isEmpty {
            depth += 1
            guard depth <= Limit.segments else { throw MediatorError(refusal, "the path is too deep") }
            let piece = rest.dropFirst().prefix { $0 != slash }
            guard let segment = Percent.decode(piece), Self.isSegment(segment) else {
                throw MediatorError(refusal, "the path has an empty segment, a dot segment or an encoded slash")
            }
            path.append(segment)
            rest = rest[piece.endIndex...]
        }
        self.path = path
    }

    /// Decodes the query, without the parameters that are `ignored`.
    ///
    /// - Throws: ``MediatorError/Kind/invalid``.
    func parameters(ignoring ignored: Set<String>) throws(MediatorError) -> [Parameter] {
        guard let query else { return [] }
        var parameters: [Parameter] = []
        parameters.reserveCapacity(4)
        var (start, count) = (query.startIndex, 0)
        while start <= query.endIndex {
            let piece = query[start...].prefix { $0 != UInt8(ascii: "&") }
            start = piece.endIndex + 1
            count += 1
            guard count <= Limit.parameters else {
                throw MediatorError(.invalid, "the query has too many parameters")
            }
            let equals = piece.firstIndex(of: UInt8(ascii: "=")) ?? piece.endIndex
            guard equals < piece.endIndex, let name = Percent.decode(piece[..<equals]),
                let value = Percent.decode(piece[(equals + 1)...])
            else {
                throw MediatorError(.invalid, "the query has a parameter without a value")
            }
            if ignored.contains(name) { continue }
            // Forms write a space as a plus, and RFC 3986 does not.
            guard !piece.contains(UInt8(ascii: "+")) else {
                throw MediatorError(.invalid, "the parameter \(name) has a plus that is not encoded")
            }
            parameters.append(Parameter(name: name, value: value))
        }
        return parameters
    }

    /// Writes a path with its query, or returns `nil` if it would not read as it is.
    static func write(_ origin: String, _ segments: [String], _ parameters: [Parameter]) -> String? {
        guard segments.count < Limit.segments, parameters.count <= Limit.parameters else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(128)
        bytes.append(contentsOf: origin.utf8)
        for (index, segment) in segments.enumerated() {
            guard isSegment(segment), !segment.utf8.contains(0) else { return nil }
            if index > 0 { bytes.append(UInt8(ascii: "/")) }
            Percent.encode(segment, to: &bytes)
        }
        for (index, parameter) in parameters.enumerated() {
            guard !parameter.value.utf8.contains(0), !parameter.name.utf8.contains(0) else { return nil }
            bytes.append(index == 0 ? UInt8(ascii: "?") : UInt8(ascii: "&"))
            Percent.encode(parameter.name, to: &bytes)
            bytes.append(UInt8(ascii: "="))
            Percent.encode(parameter.value, to: &bytes)
        }
        return bytes.count <= Limit.bytes ? String(decoding: bytes, as: UTF8.self) : nil
    }

    /// Whether a text can be a segment of a path that servers and browsers leave as it is.
    static func isSegment(_ text: String) -> Bool {
        text != "" && text != "." && text != ".." && !text.utf8.contains(UInt8(ascii: "/"))
    }

    /// Whether both have the same letters. `text` has small ones.
    private static func isSame(_ bytes: ArraySlice<UInt8>, _ text: String) -> Bool {
        bytes.count == text.utf8.count && bytes.lazy.map(lowercased).elementsEqual(text.utf8)
    }

    private static func lowercased(_ bytes: ArraySlice<UInt8>) -> String {
        // Most addresses have no capital here.
        if bytes.allSatisfy({ lowercased($0) == $0 }) { return String(decoding: bytes, as: UTF8.self) }
        return String(decoding: bytes.map(lowercased), as: UTF8.self)
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

    private static func malformed(_ reason: String) -> MediatorError {
        MediatorError(.malformed, "the address \(reason)")
    }
}
