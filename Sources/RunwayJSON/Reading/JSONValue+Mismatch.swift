extension JSONValue {
    /// The error of a value that is not what was required.
    ///
    /// - Parameters:
    ///   - expected: The kind that was required, with its article.
    ///   - holdable: For numbers, what the number must fit in.
    func mismatch(expected: String, holdable: String? = nil) -> JSONError {
        switch storage.absence {
        case .invalid(let error): return error
        case .lookup(let origin, let steps):
            return origin.error(.missing, path: path, expected: expected, found: origin.breakOff(at: steps))
        case nil: break
        }
        if let holdable, entry.isNumber {
            return error(.outOfRange, path: path, expected: holdable, found: "\(kind.withArticle), \(excerpt)")
        }
        return error(.typeMismatch, path: path, expected: expected, found: excerptWithKind)
    }

    /// An error about this value with its position and the body's start.
    func error(_ kind: JSONError.Kind, path: String, expected: String, found: String) -> JSONError {
        let offset = byteRange.lowerBound
        let (line, column) = GrammarCheck.position(of: offset, in: storage.bytes)
        return JSONError(
            kind: kind, path: path, offset: offset, line: line, column: column, expected: expected, found: found,
            bodyStart: GrammarCheck.bodyStart(storage.bytes)
        )
    }

    private var excerptWithKind: String {
        switch kind {
        case .missing, .null: kind.withArticle
        default: "\(kind.withArticle), \(excerpt)"
        }
    }

    /// The value's first bytes as text, redacted when a name on its path is secret.
    var excerpt: String {
        let isSecret = steps.contains { step in
            if case .name(let name) = step { JSONRedaction.default.isSecret(name) } else { false }
        }
        if isSecret { return JSONRedaction.mask }
        return JSONRedaction.default.redactedText(of: rawBytes, maximumByteCount: JSONError.excerptByteCount)
    }

    /// Where a path broke off: what this value, the last that exists, is, and which step it does not have.
    private func breakOff(at steps: [JSONPathStep]) -> String {
        let place = path == "$" ? "the root" : JSONError.shortened(path)
        switch (kind, steps[0]) {
        case (.object, .name(let name)):
            return "nothing: \(place) exists but has no member \"\(JSONError.shortened(name))\" among its \(count)"
        case (.array, .index(let index)):
            return "nothing: \(place) exists but has \(count) element\(count == 1 ? "" : "s"); [\(index)] was asked for"
        case (_, .name(let name)):
            return "nothing: \(place) is \(kind.withArticle), not an object with \"\(JSONError.shortened(name))\""
        case (_, .index(let index)):
            return "nothing: \(place) is \(kind.withArticle), not an array with [\(index)]"
        }
    }
}
