/// Finds and describes the first error of a refused document.
///
/// It reads byte by byte, since it runs only once and only for refused documents. It is written separately from the
/// index, so that tests can compare the two: both accept exactly the same documents.
struct GrammarCheck {
    private let bytes: [UInt8]
    private let limits: JSONLimits
    private var place = 0
    /// One value per open container: `true` for an object, `false` for an array.
    private var openContainers: [Bool] = []
    private var valueCount = 0

    static func firstError(in bytes: [UInt8], limits: JSONLimits) -> JSONError {
        error(in: bytes, limits: limits) ?? JSONError(kind: .syntax, bodyStart: bodyStart(bytes))
    }

    /// Returns the first error of a document, or `nil` if the document is valid.
    static func error(in bytes: [UInt8], limits: JSONLimits) -> JSONError? {
        if bytes.count > limits.effectiveByteCount { return limits.tooLarge(bytes.count) }
        var check = GrammarCheck(bytes: bytes, limits: limits)
        do throws(JSONError) {
            try check.document()
            return nil
        } catch {
            return error
        }
    }

    private init(bytes: [UInt8], limits: JSONLimits) {
        self.bytes = bytes
        self.limits = limits
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
    }

    private mutating func document() throws(JSONError) {
        if let encoding = Self.wideEncoding(of: bytes) {
            throw fault(.invalidUTF8, expected: "UTF-8, as JSON has to be (RFC 8259 §8.1)", found: encoding)
        }
        try value(orClosing: nil)
        while let isObject = openContainers.last {
            skipBlanks()
            let closing = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
            if peek == closing {
                place += 1
                openContainers.removeLast()
                continue
            }
            guard peek == UInt8(ascii: ",") else {
                throw fault(expected: isObject ? "',' or '}'" : "',' or ']'")
            }
            place += 1
            if isObject { try name(orClosing: false) }
            try value(orClosing: nil)
        }
        skipBlanks()
        if place < bytes.count { throw fault(expected: "the end of the document") }
    }

    /// Reads one value. After an opening bracket, it stops at the first child, or after the closing bracket if the
    /// container is empty.
    private mutating func value(orClosing expected: String?) throws(JSONError) {
        var expected = expected
        while true {
            skipBlanks()
            if expected != nil, peek == UInt8(ascii: "]") {
                place += 1
                openContainers.removeLast()
                return
            }
            valueCount += 1
            if valueCount > limits.maximumValueCount {
                throw fault(.limitExceeded, expected: "at most \(limits.maximumValueCount) values", found: "more")
            }
            switch peek {
            case UInt8(ascii: "["):
                try open(isObject: false)
                expected = "a value or ']'"
            case UInt8(ascii: "{"):
                try open(isObject: true)
                if try name(orClosing: true) { return }
                expected = nil
            case UInt8(ascii: "\""): return try string()
            case UInt8(ascii: "t"): return try literal("true")
            case UInt8(ascii: "f"): return try literal("false")
            case UInt8(ascii: "n"): return try literal("null")
            case UInt8(ascii: "-"): return try number()
            case _ where isDigit: return try number()
            default: throw fault(expected: expected ?? "a value")
            }
        }
    }

    private mutating func open(isObject: Bool) throws(JSONError) {
        if openContainers.count >= limits.maximumDepth {
            throw fault(.limitExceeded, expected: "at most depth \(limits.maximumDepth)", found: "one more level")
        }
        place += 1
        openContainers.append(isObject)
    }

    /// Reads a member's name and its colon. Returns `true` if the object ends instead.
    @discardableResult
    private mutating func name(orClosing mayClose: Bool) throws(JSONError) -> Bool {
        skipBlanks()
        if mayClose, peek == UInt8(ascii: "}") {
            place += 1
            openContainers.removeLast()
            return true
        }
        guard peek == UInt8(ascii: "\"") else {
            throw fault(expected: "a member's name in quotation marks" + (mayClose ? " or '}'" : ""))
        }
        try string()
        skipBlanks()
        guard peek == UInt8(ascii: ":") else { throw fault(expected: "':' after the member's name") }
        place += 1
        return false
    }

    private mutating func string() throws(JSONError) {
        place += 1
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                place += 1
                return
            case UInt8(ascii: "\\"): try escape()
            case ..<0x20: throw fault(expected: "control characters in a string to be escaped")
            default:
                let length = UTF8Check.sequenceLength(at: place, in: bytes.span)
                if length == 0 { throw fault(.invalidUTF8, expected: "a well-formed UTF-8 sequence") }
                place += length
            }
        }
        throw fault(expected: "'\"' at the end of the string")
    }

    private mutating func escape() throws(JSONError) {
        place += 1
        switch peek {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            place += 1
        case UInt8(ascii: "u"):
            place += 1
            for _ in 0..<4 {
                guard let byte = peek, StringText.hexValue(byte) != nil else {
                    throw fault(expected: "four hexadecimal digits after '\\u'")
                }
                place += 1
            }
        default: throw fault(expected: "one of \" \\ / b f n r t u after '\\'")
        }
    }

    private mutating func literal(_ literal: String) throws(JSONError) {
        for byte in literal.utf8 {
            guard peek == byte else { throw fault(expected: "the literal '\(literal)'") }
            place += 1
        }
    }

    private mutating func number() throws(JSONError) {
        if peek == UInt8(ascii: "-") { place += 1 }
        if peek == UInt8(ascii: "0") {
            place += 1
            if isDigit { throw fault(expected: "a number without leading zeros") }
        } else {
            try digits()
        }
        if peek == UInt8(ascii: ".") {
            place += 1
            try digits()
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            place += 1
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { place += 1 }
            try digits()
        }
    }

    private mutating func digits() throws(JSONError) {
        guard isDigit else { throw fault(expected: "a digit") }
        while isDigit { place += 1 }
    }

    private var peek: UInt8? { place < bytes.count ? bytes[place] : nil }

    private var isDigit: Bool {
        guard let peek else { return false }
        return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(peek)
    }

    private mutating func skipBlanks() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { place += 1 }
    }
}

extension GrammarCheck {
    private func fault(_ kind: JSONError.Kind = .syntax, expected: String, found: String? = nil) -> JSONError {
        let (line, column) = Self.position(of: place, in: bytes)
        return JSONError(
            kind: kind, offset: place, line: line, column: column, expected: expected,
            found: found ?? foundHere, bodyStart: Self.bodyStart(bytes)
        )
    }

    private var foundHere: String {
        guard let byte = peek else { return "the end of the document" }
        let length = UTF8Check.sequenceLength(at: place, in: bytes.span)
        if length > 0, byte >= 0x20, byte != 0x7F {
            return "'\(String(decoding: bytes[place..<place + length], as: UTF8.self))'"
        }
        let digits = String(byte, radix: 16, uppercase: true)
        return "byte 0x" + (digits.count == 1 ? "0" : "") + digits
    }

    /// Returns the line and the column of a byte, both counted from 1. Columns count Unicode scalars.
    static func position(of offset: Int, in bytes: [UInt8]) -> (line: Int, column: Int) {
        var line = 1
        var column = 1
        for byte in bytes.prefix(offset) {
            if byte == 0x0A {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        return (line, column)
    }

    /// Returns the name of the encoding if the document is in UTF-16 or UTF-32; otherwise `nil`.
    ///
    /// The encoding is known from a byte order mark, or from the zero bytes among the first two characters (RFC 4627
    /// §3). No UTF-8 document begins with either.
    static func wideEncoding(of bytes: [UInt8]) -> String? {
        let start = bytes.prefix(4)
        if start.elementsEqual([0xFF, 0xFE, 0, 0]) || start.elementsEqual([0, 0, 0xFE, 0xFF]) { return "UTF-32" }
        if start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF]) { return "UTF-16" }
        switch start.map({ $0 == 0 }) {
        case [false, true, true, true], [true, true, true, false]: return "UTF-32"
        case [false, true, false, true], [true, false, true, false]: return "UTF-16"
        default: return nil
        }
    }

    static func bodyStart(_ bytes: [UInt8]) -> String {
        JSONRedaction.default.redactedText(of: bytes, maximumByteCount: JSONError.bodyStartByteCount)
    }
}
