/// Finds the encoding that a document declares in its first bytes, which are read as ASCII.
enum DeclaredEncoding {
    /// The number of bytes that are searched for a declaration.
    private static let byteCount = 1024

    /// Returns the encoding that an XML declaration names (XML 1.0 §4.3.3 and appendix F; HTML §13.2.3.2).
    static func xml(_ bytes: [UInt8]) -> TextEncoding? {
        if bytes.starts(with: [0x3C, 0, 0x3F, 0]) { return .utf16LE }
        if bytes.starts(with: [0, 0x3C, 0, 0x3F]) { return .utf16BE }
        let start = ASCIIScanner(bytes.prefix(byteCount))
        guard bytes.starts(with: "<?xml".utf8), let end = bytes.prefix(byteCount).firstIndex(of: UInt8(ascii: ">"))
        else {
            return nil
        }
        var scanner = ASCIIScanner(start.rest.prefix(upTo: end))
        guard scanner.skip(past: "encoding") else { return nil }
        scanner.skipBlanks()
        guard scanner.take("=") else { return nil }
        scanner.skipBlanks()
        return scanner.quoted().flatMap { encoding($0) }
    }

    /// Returns the encoding that a `meta` element names, found with HTML's prescan algorithm (HTML §13.2.3.2).
    static func html(_ bytes: [UInt8]) -> TextEncoding? {
        var scanner = ASCIIScanner(bytes.prefix(byteCount))
        while let byte = scanner.next {
            if byte != UInt8(ascii: "<") {
                scanner.drop()
            } else if scanner.take("<!--") {
                // In `<!-->` the two dashes that begin the comment also end it.
                scanner.stepBack(2)
                if !scanner.skip(past: "-->") { return nil }
            } else if scanner.takeTag("<meta") {
                if let found = meta(scanner.attributes()) { return found }
            } else if scanner.takeTag() {
                _ = scanner.attributes()
            } else if scanner.take("<!") || scanner.take("</") || scanner.take("<?") {
                if !scanner.skip(past: ">") { return nil }
            } else {
                scanner.drop()
            }
        }
        return nil
    }

    private static func meta(_ attributes: [(name: String, value: String)]) -> TextEncoding? {
        func value(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
        if let charset = value("charset") { return encoding(charset) }
        guard value("http-equiv") == "content-type", let content = value("content") else { return nil }
        var scanner = ASCIIScanner(Array(content.utf8)[...])
        while scanner.skip(past: "charset") {
            scanner.skipBlanks()
            guard scanner.take("=") else { continue }
            scanner.skipBlanks()
            if let next = scanner.next, next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") {
                return scanner.quoted().flatMap { encoding($0) }
            }
            return encoding(scanner.take { !ASCIIScanner.isBlank($0) && $0 != UInt8(ascii: ";") })
        }
        return nil
    }

    /// Returns the encoding that a label names. The label was read as ASCII, so the document can't be UTF-16 or UTF-32,
    /// and labels of these encodings count as UTF-8. The label `x-user-defined` counts as Windows-1252.
    private static func encoding(_ label: String) -> TextEncoding? {
        switch TextEncoding(label: label) {
        case .utf16LE, .utf16BE, .utf32, .utf32LE, .utf32BE: .utf8
        case .userDefined: TextEncoding(label: "windows-1252")
        case let encoding: encoding
        }
    }
}

/// Reads the start of a document from front to back. It compares letters without regard to case.
private struct ASCIIScanner {
    private(set) var rest: ArraySlice<UInt8>
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { (rest, self.bytes) = (bytes, bytes) }

    var next: UInt8? { rest.first }

    static func isBlank(_ byte: UInt8) -> Bool { [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains(byte) }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

    mutating func drop() { rest = rest.dropFirst() }

    mutating func stepBack(_ count: Int) { rest = bytes[(rest.startIndex - count)...] }

    mutating func skipBlanks() { rest = rest.drop(while: Self.isBlank) }

    /// Consumes `word` if it comes next; otherwise returns `false`. `word` must be in lower case.
    mutating func take(_ word: String) -> Bool {
        guard rest.prefix(word.utf8.count).map(Self.lowercased) == Array(word.utf8) else { return false }
        rest = rest.dropFirst(word.utf8.count)
        return true
    }

    /// Consumes bytes while they satisfy the condition. Returns them as text in lower case.
    mutating func take(while isTaken: (UInt8) -> Bool) -> String {
        let taken = rest.prefix(while: isTaken)
        rest = rest[taken.endIndex...]
        return String(decoding: taken.map(Self.lowercased), as: UTF8.self)
    }

    /// Skips everything up to and including `word`. Returns `false` if the word was not found. `word` must be in lower
    /// case.
    mutating func skip(past word: String) -> Bool {
        while !rest.isEmpty {
            if take(word) { return true }
            drop()
        }
        return false
    }

    /// Consumes a text in single or double quotation marks. Returns `nil` if a quotation mark is missing.
    mutating func quoted() -> String? {
        guard let mark = rest.first, mark == UInt8(ascii: "\"") || mark == UInt8(ascii: "'") else { return nil }
        drop()
        let text = take { $0 != mark }
        if rest.isEmpty { return nil }
        drop()
        return text
    }

    /// Consumes the start of a tag with this name, up to its attributes. Returns `false` if no such tag comes next.
    mutating func takeTag(_ tag: String) -> Bool {
        guard let end = rest.dropFirst(tag.utf8.count).first, Self.isBlank(end) || end == UInt8(ascii: "/") else {
            return false
        }
        return take(tag)
    }

    /// Consumes the start of a tag with any name, up to its attributes. Returns `false` if no tag comes next.
    mutating func takeTag() -> Bool {
        let name = rest.dropFirst(rest.dropFirst().first == UInt8(ascii: "/") ? 2 : 1)
        guard let first = name.first, (0x61...0x7A).contains(Self.lowercased(first)) else { return false }
        rest = name.drop { !Self.isBlank($0) && $0 != UInt8(ascii: ">") }
        return true
    }

    /// Consumes the attributes of a tag up to the tag's end. Returns them in lower case.
    mutating func attributes() -> [(name: String, value: String)] {
        var attributes: [(name: String, value: String)] = []
        while true {
            rest = rest.drop { Self.isBlank($0) || $0 == UInt8(ascii: "/") }
            guard let first = rest.first, first != UInt8(ascii: ">") else { return attributes }
            drop()
            let start = String(decoding: [Self.lowercased(first)], as: UTF8.self)
            let name = start + take { !Self.isBlank($0) && !"=/>".utf8.contains($0) }
            skipBlanks()
            guard take("=") else {
                attributes.append((name, ""))
                continue
            }
            skipBlanks()
            if let mark = rest.first, mark == UInt8(ascii: "\"") || mark == UInt8(ascii: "'") {
                guard let value = quoted() else { return attributes }
                attributes.append((name, value))
            } else {
                attributes.append((name, take { !Self.isBlank($0) && $0 != UInt8(ascii: ">") }))
            }
        }
    }
}
