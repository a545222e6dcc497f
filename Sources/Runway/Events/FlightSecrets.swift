import HTTPTypes

/// The secrets that authenticate a call. They are removed from the call's record, regardless of the names of the fields
/// that contain them.
struct FlightSecrets: Sendable {
    private(set) var fields: Set<HTTPField.Name> = []
    /// The secret texts, which may also occur in a URL or in a field of the response.
    private(set) var texts: [String] = []

    /// Whether the request body contains a secret.
    private(set) var isInBody = false

    var isEmpty: Bool { fields.isEmpty && texts.isEmpty }

    mutating func add(_ fields: Set<HTTPField.Name>, _ texts: [String], isInBody: Bool = false) {
        if isInBody { self.isInBody = true }
        self.fields.formUnion(fields)
        // A shorter secret would also match texts that are not secret.
        for text in texts where text.utf8.count >= 8 {
            var escaped = ""
            escaped.appendPercentEncoded(text, allowing: PercentEncoding.unreserved)
            for form in [text, escaped] where !self.texts.contains(form) { self.texts.append(form) }
        }
    }

    func masked(_ text: String) -> String {
        texts.reduce(text) { $0.contains($1) ? $0.replacing($1, with: Redaction.placeholder) : $0 }
    }

    /// Masks secrets in an excerpt of a body. A secret that is cut off at the end of the excerpt is also masked, if at
    /// least 8 bytes of it are left.
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
    /// Returns the secrets that must be masked: all secrets of the call, or none if the developer chose to see every
    /// header field.
    func hidden(_ secrets: FlightSecrets) -> FlightSecrets { headerFields.isEmpty ? FlightSecrets() : secrets }
}
