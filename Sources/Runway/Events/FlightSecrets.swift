import HTTPTypes

/// The secrets that authenticate a call. They are removed from its record, whatever the names of the fields that
/// contain them.
struct FlightSecrets: Sendable {
    /// The header fields that contain a secret.
    private(set) var fields: Set<HTTPField.Name> = []
    /// The secrets themselves, which a URL or a field of the response may contain.
    private(set) var texts: [String] = []

    /// Whether the body contains a secret.
    private(set) var isInBody = false

    /// Whether there is nothing to mask in texts and fields.
    var isEmpty: Bool { fields.isEmpty && texts.isEmpty }

    mutating func add(_ fields: Set<HTTPField.Name>, _ texts: [String], isInBody: Bool = false) {
        if isInBody { self.isInBody = true }
        self.fields.formUnion(fields)
        // A shorter one would match texts that are not secret.
        for text in texts where text.utf8.count >= 8 {
            var escaped = ""
            escaped.appendPercentEncoded(text, allowing: PercentEncoding.unreserved)
            for form in [text, escaped] where !self.texts.contains(form) { self.texts.append(form) }
        }
    }

    func masked(_ text: String) -> String {
        texts.reduce(text) { $0.contains($1) ? $0.replacing($1, with: Redaction.placeholder) : $0 }
    }

    /// Masks a text that may end in the start of a body. A secret that is cut off at the end is masked, too, if at
    /// least 8 bytes of it are there.
    func masked(start text: String) -> String {
        var masked = masked(text)
        for secret in texts where masked.hasSuffix("…") {
            let start = Array(masked.utf8.dropLast("…".utf8.count))
            let length = (8..<max(8, secret.utf8.count)).last { start.suffix($0).elementsEqual(secret.utf8.prefix($0)) }
            if let length { masked = String(decoding: start.dropLast(length), as: UTF8.self) + Redaction.placeholder }
        }
        return masked
    }

    func masked(_ headerFields: HTTPFields) -> HTTPFields {
        if isEmpty { return headerFields }
        return HTTPFields(
            headerFields.map { field in
                HTTPField(
                    name: field.name, value: fields.contains(field.name) ? Redaction.placeholder : masked(field.value))
            })
    }
}

extension Redaction {
    /// Returns the secrets of a call that are masked: all, unless a developer chose to see every header field.
    func hidden(_ secrets: FlightSecrets) -> FlightSecrets { headerFields.isEmpty ? FlightSecrets() : secrets }
}
