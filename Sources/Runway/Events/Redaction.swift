import Foundation
public import HTTPTypes
public import RunwayJSON
import Synchronization

/// The rules by which secrets are removed from records, logs and errors. They mask the values of secret header fields
/// and parameters, and leave out bodies.
///
/// The rules are applied before a sink receives a record. A secret value is replaced by ``placeholder``.
///
/// ```swift
/// NetworkLayer(
///     transport: transport,
///     sinks: [LogSink(), MetricsSink(), TracingSink()],
///     redaction: Redaction(recordsBodies: true),  // forms and JSON without their secrets
///     tokens: FileTokenStore(folder: folder))
/// ```
public struct Redaction: Sendable, Equatable {
    /// The text that replaces a secret.
    public static let placeholder = JSONRedaction.mask

    /// The header fields whose values are secret, in addition to those that ``names`` matches. The default is
    /// ``secretHeaderFields``.
    public var headerFields: Set<HTTPField.Name> { didSet { knownFields = KnownFields() } }
    /// The names of secret parameters, members and header fields. Values with these names are redacted in queries,
    /// forms, JSON and messages.
    ///
    /// The default matches single words within a name, so `X-Vault-Token`, `X-Session-Id` and `X-Amz-Signature` need
    /// not be listed.
    public var names: JSONRedaction { didSet { knownFields = KnownFields() } }
    /// Whether records contain bodies. Secrets in forms and JSON are redacted. The default is `false`.
    public var recordsBodies: Bool
    /// Caches whether each header field is secret. All copies of the redaction share the cache.
    private var knownFields = KnownFields()

    /// The default rules: secrets are redacted, and bodies are not recorded.
    public static let `default` = Redaction()

    /// Rules that redact nothing and record bodies. Use them only on a developer's own machine.
    public static let none = Redaction(headerFields: [], names: .none, recordsBodies: true)

    /// Creates the rules for records, logs and errors.
    ///
    /// - Parameters:
    ///   - headerFields: The header fields whose values are secret. The default contains the fields that carry
    ///     credentials or signatures.
    ///   - names: The names of parameters, members and header fields whose values are secret. The default is
    ///     `JSONRedaction.default`.
    ///   - recordsBodies: Whether records contain bodies. The default is `false`.
    public init(
        headerFields: Set<HTTPField.Name> = Redaction.secretHeaderFields, names: JSONRedaction = .default,
        recordsBodies: Bool = false
    ) {
        self.headerFields = headerFields
        self.names = names
        self.recordsBodies = recordsBodies
    }

    /// The header fields that carry credentials or signatures.
    public static let secretHeaderFields: Set<HTTPField.Name> = Set(
        [
            "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-API-Key", "API-Key", "X-Auth-Token",
            "X-Access-Token", "X-CSRF-Token", "Signature", "Runway-Digest", "Runway-Sealed-Key",
        ].compactMap { HTTPField.Name($0) })
}

extension Redaction {
    func redacted(_ fields: HTTPFields) -> HTTPFields {
        guard fields.contains(where: { isSecret($0.name) || mayHoldSecret($0.value) }) else { return fields }
        return HTTPFields(
            fields.map { field in
                if isSecret(field.name) { return HTTPField(name: field.name, value: Self.placeholder) }
                // Any field may contain a URL: not only `Location`, `Link` and `Refresh`, but also the service's own
                // fields.
                return mayHoldSecret(field.value)
                    ? HTTPField(name: field.name, value: redacted(urlsIn: field.value)) : field
            })
    }

    /// Returns whether the values of this header field are secret.
    func isSecret(_ name: HTTPField.Name) -> Bool {
        knownFields.isSecret(name) { headerFields.contains(name) || names.isSecretField(name.rawName) }
    }

    /// Returns a field's value with redacted URLs. A `Link` field encloses its URLs in angle brackets (RFC 8288 §3). No
    /// URL contains angle brackets.
    private func redacted(urlsIn value: String) -> String {
        guard value.utf8.first == UInt8(ascii: "<") else { return redacted(url: value) }
        var text = ""
        for part in value.unicodeScalars.split(separator: ">", omittingEmptySubsequences: false) {
            if !text.isEmpty { text += ">" }
            text += redacted(url: String(part))
        }
        return text
    }

    package func redacted(_ parameters: Parameters) -> Parameters {
        guard parameters.entries.contains(where: { isSecret($0) || $0.value.isNested }) else { return parameters }
        return Parameters(
            parameters.entries.map { entry in
                Parameters.Entry(entry.name, isSecret(entry) ? .string(Self.placeholder) : redacted(entry.value))
            })
    }

    private func isSecret(_ entry: Parameters.Entry) -> Bool {
        if case .string = entry.value { return names.isSecretStringParameter(entry.name) }
        return names.isSecretParameter(entry.name)
    }

    private func redacted(_ value: ParameterValue) -> ParameterValue {
        switch value {
        case .object(let members): .object(redacted(members))
        case .array(let elements): .array(elements.map(redacted))
        default: value
        }
    }

    /// Returns a URL in which secret parameters of the query and the fragment are masked.
    package func redacted(url: String) -> String { redacted(url: url, depth: 0) }

    private func redacted(url: String, depth: Int) -> String {
        // This function runs for every request, and most URLs can't contain a secret.
        if !mayHoldSecret(url) { return url }
        // The text is split by Unicode scalars. A separator with a combining mark is another `Character`, but a server
        // still reads it as the separator.
        let url = Self.withoutUserInfo(url).unicodeScalars
        guard let mark = url.firstIndex(where: { $0 == "?" || $0 == "#" }) else { return String(url) }
        let parts = url[url.index(after: mark)...].split(separator: "#", omittingEmptySubsequences: false)
        return String(url[...mark]) + parts.map { redacted(pairs: $0, depth: depth) }.joined(separator: "#")
    }

    /// Returns whether a URL may contain user information or a secret parameter.
    private func mayHoldSecret(_ url: String) -> Bool {
        // This function runs for every header field of a record. Most values contain none of the characters that can
        // precede a secret or a nested URL.
        let hasSign =
            url.utf8.withContiguousStorageIfAvailable { $0.contains(where: Self.isSign) }
            ?? url.utf8.contains(where: Self.isSign)
        guard hasSign else { return false }
        if url.utf8.contains(UInt8(ascii: "@")) || Self.mayHoldURL(url) { return true }
        let marks = (UInt8(ascii: "?"), UInt8(ascii: "#"))
        guard let start = url.utf8.firstIndex(where: { $0 == marks.0 || $0 == marks.1 }) else { return false }
        return url.utf8[start...].split { $0 == UInt8(ascii: "&") || $0 == marks.0 || $0 == marks.1 }.contains { pair in
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return false }
            return names.isSecretParameter(Self.decoded(String(Substring(pair[..<equals]))))
        }
    }

    /// Returns whether a byte of a URL may be next to a secret or to a nested URL.
    private static func isSign(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "@") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") || byte == UInt8(ascii: "%")
    }

    /// Returns whether a value in a URL may be a URL itself, because it contains an escaped "?", "#" or "@".
    private static func mayHoldURL(_ url: String) -> Bool {
        guard url.utf8.contains(UInt8(ascii: "%")) else { return false }
        return ["%3F", "%3f", "%23", "%40"].contains { url.utf8.firstRange(of: $0.utf8) != nil }
    }

    private static func decoded(_ name: String) -> String {
        name.utf8.contains(UInt8(ascii: "%")) ? name.removingPercentEncoding ?? name : name
    }

    /// Removes the user information from a URL, even if the URL is malformed.
    static func withoutUserInfo(_ url: String) -> String {
        let scalars = url.unicodeScalars
        guard let start = scalars.firstRange(of: "//".unicodeScalars)?.upperBound else { return url }
        let authority = scalars[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return url }
        return String(scalars[..<start]) + placeholder + String(scalars[at...])
    }

    private func redacted(pairs: Substring.UnicodeScalarView, depth: Int = 0) -> String {
        pairs.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            guard let equals = pair.firstIndex(of: "=") else { return String(pair) }
            let isSecret =
                names.isSecretParameter(Self.decoded(String(pair[..<equals])))
                || isURLWithSecret(String(pair[pair.index(after: equals)...]), depth: depth)
            return isSecret ? String(pair[...equals]) + Self.placeholder : String(pair)
        }.joined(separator: "&")
    }

    /// Returns whether a value, escaped or not, is a URL with a secret, such as the return address of a login. Examines
    /// at most three levels of nested URLs.
    private func isURLWithSecret(_ value: String, depth: Int) -> Bool {
        if depth > 2 { return false }
        let url = Self.decoded(value)
        return redacted(url: url, depth: depth + 1) != url
    }

    /// Returns the detail of an error without secrets. The detail may contain an excerpt of a body. Common secrets are
    /// already masked there, but an app may have configured further names of secrets.
    func redacted(detail: String) -> String {
        if names == .default || names == .none { return detail }
        return names.redactedText(of: detail.utf8, maximumByteCount: 2 * detail.utf8.count)
    }

    /// Removes the response and the underlying error from a failure. Both may contain secrets.
    func redacted(_ outcome: FlightOutcome) -> FlightOutcome {
        guard var error = outcome.error, self != .none else { return outcome }
        error.rawData = nil
        error.underlying = nil
        return .failed(error)
    }

    /// Removes the secrets from the record of an attempt.
    func redact(_ attempt: inout FlightRecord.Attempt) {
        attempt.url = redacted(url: attempt.url)
        attempt.requestBody = attempt.requestBody.map { redacted(body: $0, attempt.headerFields[.contentType]) }
        attempt.responseBody = attempt.responseBody.map {
            redacted(body: $0, attempt.responseHeaderFields?[.contentType])
        }
        attempt.headerFields = redacted(attempt.headerFields)
        attempt.responseHeaderFields = attempt.responseHeaderFields.map(redacted)
    }

    /// Returns a body with masked secrets. Secrets are found in forms, and in JSON under any media type.
    private func redacted(body: [UInt8], _ contentType: String?) -> [UInt8] {
        guard names != .none, !body.isEmpty else { return body }
        let mediaType = contentType.flatMap { MediaType($0) }
        if let document = try? JSONDocument(body) {
            let text = names.redactedText(of: document.root, maximumByteCount: .max, isIndented: false)
            return Array(text.utf8)
        }
        if mediaType?.isJSON == true {
            // The JSON is invalid, for example truncated. A mask may be longer than the secret that it replaces, so the
            // limit exceeds the size of the body.
            return Array(names.redactedText(of: body, maximumByteCount: 16 * body.count).utf8)
        }
        if mediaType?.subtype == "x-www-form-urlencoded", let text = String(validating: body, as: UTF8.self) {
            return Array(redacted(pairs: text.unicodeScalars[...]).utf8)
        }
        return body
    }
}

/// Caches whether a header field is secret. Responses repeat the same few fields, and splitting a name into words takes
/// longer than recording the rest of the field.
private final class KnownFields: Sendable, Equatable {
    /// The maximum number of cached names. If more names arrive, the cache is emptied.
    private static let maximumCount = 256

    /// Guards the results by name. Names are stored with their case, because capital letters separate words.
    private let verdicts = Mutex<[String: Bool]>([:])

    /// Always `true`, because the cache depends only on other properties of the redaction.
    static func == (_: KnownFields, _: KnownFields) -> Bool { true }

    func isSecret(_ name: HTTPField.Name, _ judge: () -> Bool) -> Bool {
        if let known = verdicts.withLock({ $0[name.rawName] }) { return known }
        let isSecret = judge()
        verdicts.withLock { verdicts in
            if verdicts.count >= Self.maximumCount { verdicts.removeAll(keepingCapacity: true) }
            verdicts[name.rawName] = isSecret
        }
        return isSecret
    }
}

extension ParameterValue {
    /// Whether the value is an array or an object, which may contain names of secrets.
    fileprivate var isNested: Bool {
        switch self {
        case .array, .object: true
        default: false
        }
    }
}
