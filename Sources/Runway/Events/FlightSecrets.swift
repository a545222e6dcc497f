import HTTPTypes

/// What authenticates a call: removed from its record, whatever the names of the fields that contain it.
struct FlightSecrets: Sendable {
    /// The header fields that hold it.
    private(set) var fields: Set<HTTPField.Name> = []
    /// The secrets themselves, which a URL or a field of the response may contain.
    private(set) var texts: [String] = []

    /// Whether the body holds one.
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
    /// Which of a call's secrets are masked: all, unless a developer chose to see every header field.
    func hidden(_ secrets: FlightSecrets) -> FlightSecrets { headerFields.isEmpty ? FlightSecrets() : secrets }
}
