import Foundation
import HTTPTypes

extension FlightRecord.Attempt {
    /// A command line that sends this request again with curl, for any POSIX shell.
    ///
    /// Secrets that the layer's ``Redaction`` removes are not in it. A body that is not text, or that is
    /// longer than an argument of a command line may be, is piped into curl as Base64.
    public var curlCommand: String {
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
        words += ["--globoff", url.shellQuoted]
        return pipe + words.joined(separator: " ")
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
