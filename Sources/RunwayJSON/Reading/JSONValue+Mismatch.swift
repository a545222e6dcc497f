extension JSONValue {
    /// Returns the error for a value that is not of the required kind.
    ///
    /// - Parameters:
    ///   - expected: The required kind, with its article.
    ///   - holdable: For numbers, the type that must represent the number.
    func mismatch(expected: String, holdable: String? = nil) -> JSONError {
        switch storage.absence {
        case .invalid(let error): return error
        case .lookup(let origin, let first, _):
            return origin.error(.missing, path: path, expected: expected, found: origin.breakOff(at: first))
        case nil: break
        }
        if let holdable, entry.isNumber {
            return error(.outOfRange, path: path, expected: holdable, found: "\(kind.withArticle), \(excerpt)")
        }
        return error(.typeMismatch, path: path, expected: expected, found: excerptWithKind)
    }

    func error(_ kind: JSONError.Kind, path: String, expected: String, found: String) -> JSONError {
        let offset = byteRange.lowerBound
        let (line, column) = GrammarCheck.position(of: offset, in: storage.bytes)
        return JSONError(
            kind: kind, path: path, offset: offset, line: line, column: column, expected: expected, found: found,
            bodyStart: storage.bodyStart
        )
    }

    private var excerptWithKind: String {
        switch kind {
        case .missing, .null: kind.withArticle
        default: "\(kind.withArticle), \(excerpt)"
        }
    }

    /// The first bytes of the value as text; redacted if a name on the value's path is secret.
    private var excerpt: String { excerpt(isSecret: isSecret(by: .default)) }

    func isSecret(by redaction: JSONRedaction) -> Bool {
        if kind == .string, case .name(let name)? = steps.last, redaction.isSecretString(name) { return true }
        return steps.contains { if case .name(let name) = $0 { redaction.isSecret(name) } else { false } }
    }

    /// Returns the first bytes of the value as text, or the mask if `isSecret`.
    func excerpt(isSecret: Bool) -> String {
        if isSecret { return JSONRedaction.mask }
        return JSONRedaction.default.redactedText(of: rawBytes, maximumByteCount: JSONError.excerptByteCount)
    }

    /// Describes where a lookup failed: the kind of this value, which is the last existing one on the path, and the
    /// step that failed.
    private func breakOff(at step: JSONPathStep) -> String {
        let place = path == "$" ? "the root" : JSONError.shortened(path)
        switch (kind, step) {
        case (.object, .name(let name)):
            return "nothing: \(place) exists but has no member \"\(JSONError.shortened(name))\" among its \(count)"
        case (.array, .index(let index)):
            return "nothing: \(place) exists but has \(count) element\(count == 1 ? "" : "s"); [\(index)] was requested"
        case (_, .name(let name)):
            return "nothing: \(place) is \(kind.withArticle), not an object with \"\(JSONError.shortened(name))\""
        case (_, .index(let index)):
            return "nothing: \(place) is \(kind.withArticle), not an array with [\(index)]"
        }
    }
}
