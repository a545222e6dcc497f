import RunwayJSON

/// A value that a path leads to.
enum Datum: Sendable {
    case json(JSONValue)
    case text(String)

    /// Whether a condition with the value holds. Absent and empty values, `null`, `false` and 0 do not.
    var isTrue: Bool {
        switch self {
        case .text(let text): !text.isEmpty
        case .json(let value):
            switch value.kind {
            case .missing, .null: false
            case .boolean: value.bool == true
            case .number: value.number != 0
            case .string: !value.isString("")
            case .array, .object: value.count > 0
            }
        }
    }

    /// Returns the value as text: a string, a number as it is written, `true` or `false`; empty for every other kind.
    ///
    /// A text of more than `length` bytes may be cut, but stays longer than that. Takes time in proportion to `length`.
    func text(upTo length: Int) -> String {
        switch self {
        case .text(let text): text
        case .json(let value):
            switch value.kind {
            case .string: value.start(upTo: length)
            case .number, .boolean: String(decoding: value.rawBytes.prefix(length + 1), as: UTF8.self)
            case .missing, .null, .array, .object: ""
            }
        }
    }

    /// The elements of an array; `nil` for every other kind.
    var elements: JSONElements? { if case .json(let value) = self { value.elements } else { nil } }

    /// The text of a string that may be a word of the schema; `nil` for longer ones and every other kind.
    var word: String? {
        switch self {
        case .text(let text): text.utf8.count <= JSONValue.maximumWordLength ? text : nil
        case .json(let value): value.word
        }
    }

    /// The number; `nil` for every other kind.
    var number: Double? { if case .json(let value) = self { value.number } else { nil } }

    /// The value as JSON text. A missing value is `null`.
    var json: ArraySlice<UInt8> {
        switch self {
        case .json(let value): return value.exists ? value.rawBytes : ArraySlice("null".utf8)
        case .text(let text):
            var writer = JSONWriter()
            writer.string(text)
            return writer.bytes[...]
        }
    }

    /// Whether both are written alike.
    func isSame(as other: Datum) -> Bool {
        switch (self, other) {
        case (.text(let one), .text(let two)): one == two
        case (.json(let one), .json(let two)): one.kind == two.kind && one.rawBytes == two.rawBytes
        case (.text, .json), (.json, .text): false
        }
    }
}

/// Readings that take a limited time, however long the value is.
extension JSONValue {
    /// The maximum size in the document of a word or a number that an attribute can have.
    static let maximumWordLength = 128

    /// The text of a string that may be a word of the schema.
    var word: String? { rawBytes.count <= Self.maximumWordLength ? string : nil }

    /// The number, unless it has more digits than anyone writes.
    var number: Double? { rawBytes.count <= Self.maximumWordLength ? double : nil }

    /// Returns the text of a string, or more than `length` bytes of its start.
    func start(upTo length: Int) -> String {
        let start = rawStart(upTo: length)
        if start.count >= rawBytes.count - 1 { return string ?? "" }
        return (try? JSONDocument(Array(start) + [UInt8(ascii: "\"")]).root.string) ?? ""
    }

    /// Returns the start of a string as it is written, with its first quotation mark: the whole string without the last
    /// one, or so much that the text is longer than `length` bytes. Ends between two characters or escapes.
    func rawStart(upTo length: Int) -> ArraySlice<UInt8> {
        let bytes = rawBytes
        var (place, end) = (bytes.startIndex + 1, bytes.endIndex - 1)
        // A character or an escape is at least a byte of the text. The last may be half of a pair, which is cut off.
        for _ in 0..<(length + 8) where place < end {
            let isEscape = bytes[place] == UInt8(ascii: "\\")
            place += isEscape ? bytes[place + 1] == UInt8(ascii: "u") ? 6 : 2 : 1
        }
        while place < end, bytes[place] & 0xC0 == 0x80 { place += 1 }
        end = min(place, end)
        return bytes[..<end]
    }
}
