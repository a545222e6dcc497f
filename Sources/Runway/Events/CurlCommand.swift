import Foundation
import HTTPTypes

extension FlightRecord.Attempt {
    /// A command line that sends this request again with curl, for any POSIX shell.
    ///
    /// Secrets that the layer's ``Redaction`` removes are not in it. A body that is not text, or that is longer than an
    /// argument of a command line may be, is piped into curl as Base64. If the record does not hold the body, see
    /// ``Redaction/recordsBodies``, a second command that does nothing names its size:
    /// `: 'body of 512 bytes not shown'`. It is no comment, since an interactive zsh would pass that to curl.
    public var curlCommand: String { curlCommand(with: [], notesMissingBody: true) }

    /// Returns the command line with further options of curl.
    ///
    /// - Parameters:
    ///   - options: The options, quoted for a shell.
    ///   - notesMissingBody: Whether a body that the record does not hold is named; `false` if the options have it.
    package func curlCommand(with options: [String], notesMissingBody: Bool) -> String {
        var words = ["curl"]
        if method == .head {
            words.append("--head")
        } else if method != .get || requestBody != nil {
            words += ["--request", method.rawValue.shellQuoted]
        }
        for field in headerFields {
            // A field without a value is written with a semicolon, or curl would remove it.
            let text = field.value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(field.value)"
            words += ["--header", text.shellQuoted]
        }
        var pipe = ""
        if let requestBody, !requestBody.isEmpty {
            // Records hold the body as it was before the layer compressed it.
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
        // Without --globoff curl would take brackets in a query for a range of URLs.
        words += ["--globoff", url.shellQuoted] + options
        return pipe + words.joined(separator: " ") + (notesMissingBody ? missingBody : "")
    }

    /// A command without effect that names the body that the record does not hold; empty without such a body.
    private var missingBody: String {
        guard requestBody == nil, requestByteCount != 0 else { return "" }
        return "; : 'body \(requestByteCount.map { "of \($0) bytes " } ?? "")not shown'"
    }
}

extension FlightRecord.Attempt {
    /// Linux takes words of at most 128 KiB; quoting may make four bytes of one.
    private static let maximumWordByteCount = 32_000
}

extension String {
    /// The text as one word of a POSIX shell: in single quotes, in which only the single quote itself is special.
    package var shellQuoted: String {
        // By scalars: a quote with a mark that combines is another `Character`, and the same quote to the shell.
        let parts = unicodeScalars.split(separator: "'", omittingEmptySubsequences: false)
        return "'" + parts.map { String($0) }.joined(separator: "'\\''") + "'"
    }
}
