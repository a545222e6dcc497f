import Foundation
import HTTPTypes

extension FlightRecord.Attempt {
    /// A command line that sends this request again with curl, for any POSIX shell.
    ///
    /// The secrets that the layer's ``Redaction`` removes are left out. The body is piped into curl as Base64 if it is
    /// not text or is too long for a command-line argument. If the record does not contain the body (see
    /// ``Redaction/recordsBodies``), a second command that does nothing states its size: `: 'body of 512 bytes not
    /// shown'`. A comment would not work: an interactive zsh would pass it to curl.
    public var curlCommand: String { curlCommand(with: [], notesMissingBody: true) }

    /// Returns the command line with additional curl options.
    ///
    /// - Parameters:
    ///   - options: The options, quoted for a shell.
    ///   - notesMissingBody: Whether the command line mentions a body that the record does not contain. Pass `false` if
    ///     `options` supply the body.
    package func curlCommand(with options: [String], notesMissingBody: Bool) -> String {
        var words = ["curl"]
        if method == .head {
            words.append("--head")
        } else if method != .get || requestBody != nil {
            words += ["--request", method.rawValue.shellQuoted]
        }
        for field in headerFields {
            // curl removes a field without a value unless it ends in a semicolon.
            let text = field.value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(field.value)"
            words += ["--header", text.shellQuoted]
        }
        var pipe = ""
        if let requestBody, !requestBody.isEmpty {
            // Records contain the body as it was before the layer compressed it.
            let isCompressed = headerFields[.contentEncoding] == "gzip" && !requestBody.starts(with: [0x1F, 0x8B])
            if !isCompressed, let text = String(validating: requestBody, as: UTF8.self),
                requestBody.first != UInt8(ascii: "@"), !requestBody.contains(0),
                requestBody.count <= Self.maximumWordByteCount
            {
                words += ["--data-binary", text.shellQuoted]
            } else {
                pipe = "printf %s '\(Data(requestBody).base64EncodedString())' | base64 -d | "
                if isCompressed { pipe += "gzip -c | " }
                words += ["--data-binary", "@-"]
            }
        }
        // Without --globoff, curl would interpret brackets in a query as a range of URLs.
        words += ["--globoff", url.shellQuoted] + options
        return pipe + words.joined(separator: " ") + (notesMissingBody ? missingBody : "")
    }

    /// A command without effect that states the size of a body that the record does not contain; empty if no body is
    /// missing.
    private var missingBody: String {
        guard requestBody == nil, requestByteCount != 0 else { return "" }
        return "; : 'body \(requestByteCount.map { "of \($0) bytes " } ?? "")not shown'"
    }
}

extension FlightRecord.Attempt {
    /// Linux limits an argument to 128 KiB, and quoting may turn one byte into four.
    private static let maximumWordByteCount = 32_000
}

extension String {
    /// The text as one word for a POSIX shell. It is in single quotes, where only the single quote itself needs
    /// escaping.
    package var shellQuoted: String {
        // The text is split by scalars: a quote with a combining mark is another `Character`, but the shell still reads
        // it as a quote.
        let parts = unicodeScalars.split(separator: "'", omittingEmptySubsequences: false)
        return "'" + parts.map { String($0) }.joined(separator: "'\\''") + "'"
    }
}
