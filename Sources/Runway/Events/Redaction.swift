import Foundation
public import HTTPTypes
public import RunwayJSON
import Synchronization

/// The rules by which secrets are removed from records, logs and errors: the values of secret header fields and
/// parameters, and bodies.
///
/// The rules are applied before a sink receives a record, never after. A secret value is replaced by ``placeholder``.
///
/// ```swift
/// NetworkLayer(
///     transport: transport,
///     sinks: [LogSink(), MetricsSink(), TracingSink()],
///     redaction: Redaction(recordsBodies: true),  // forms and JSON without their secrets
///     tokens: FileTokenStore(folder: folder))
/// ```
public struct Redaction: Sendable, Equatable {
    /// Replaces a secret.
    public static let placeholder = JSONRedaction.mask

    /// Header fields whose values are secret, in addition to those that ``names`` matches.
    public var headerFields: Set<HTTPField.Name> { didSet { knownFields = KnownFields() } }
    /// The names of parameters, members and header fields whose values are secret, in queries, forms, JSON and
    /// messages.
    ///
    /// The default matches the words of a name, so `X-Vault-Token`, `X-Session-Id` and `X-Amz-Signature` need not be
    /// listed.
    public var names: JSONRedaction { didSet { knownFields = KnownFields() } }
    /// Whether records hold bodies. Forms and JSON in them have their secrets redacted. The default is `false`.
    public var recordsBodies: Bool
    /// The header fields that were judged to be secret or not. All copies of the redaction share them.
    private var knownFields = KnownFields()

    /// Removes secrets and bodies.
    public static let `default` = Redaction()

    /// Removes nothing and records bodies. For a developer's own machine.
    public static let none = Redaction(headerFields: [], names: .none, recordsBodies: true)

    /// Makes the rules for records, logs and errors; see the properties for the defaults.
    ///
    /// - Parameters:
    ///   - headerFields: Header fields whose values are secret. The default are those that carry credentials or
    ///     signatures.
    ///   - names: Names of parameters, members and header fields whose values are secret. The default is
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
                // Any field may contain a URL: `Location`, `Link`, `Refresh` and those that a service defines.
                return mayHoldSecret(field.value)
                    ? HTTPField(name: field.name, value: redacted(urlsIn: field.value)) : field
            })
    }

    /// Whether the value of a header field of this name is secret.
    func isSecret(_ name: HTTPField.Name) -> Bool {
        knownFields.isSecret(name) { headerFields.contains(name) || names.isSecretField(name.rawName) }
    }

    /// Returns a field's value with its URLs redacted. Those of `Link` are in angle brackets (RFC 8288 §3), which no
    /// URL contains.
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

    /// Returns a URL with the values of secret parameters replaced, in its query and in its fragment.
    package func redacted(url: String) -> String { redacted(url: url, depth: 0) }

    private func redacted(url: String, depth: Int) -> String {
        // Most URLs contain no possible secret, and this runs for every request.
        if !mayHoldSecret(url) { return url }
        // By scalars: a sign with a mark that combines is another `Character`, and the same sign to a server.
        let url = Self.withoutUserInfo(url).unicodeScalars
        guard let mark = url.firstIndex(where: { $0 == "?" || $0 == "#" }) else { return String(url) }
        let parts = url[url.index(after: mark)...].split(separator: "#", omittingEmptySubsequences: false)
        return String(url[...mark]) + parts.map { redacted(pairs: $0, depth: depth) }.joined(separator: "#")
    }

    /// Whether a URL has a user's name, or a secret parameter.
    private func mayHoldSecret(_ url: String) -> Bool {
        // Most texts have none of these signs, and this function is called for every header field on a record.
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

    /// Whether a byte of a URL may be next to a secret or to a URL within the URL.
    private static func isSign(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "@") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") || byte == UInt8(ascii: "%")
    }

    /// Whether a value in a URL may be a URL itself: it has an escaped "?", "#" or "@".
    private static func mayHoldURL(_ url: String) -> Bool {
        guard url.utf8.contains(UInt8(ascii: "%")) else { return false }
        return ["%3F", "%3f", "%23", "%40"].contains { url.utf8.firstRange(of: $0.utf8) != nil }
    }

    /// Returns the name of a parameter, unescaped.
    private static func decoded(_ name: String) -> String {
        name.utf8.contains(UInt8(ascii: "%")) ? name.removingPercentEncoding ?? name : name
    }

    /// Returns a URL, which need not be well formed, without the user's name and password.
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

    /// Whether a value is a URL, escaped or not, that contains a secret, such as the return address of a login. At most
    /// three nested URLs are examined.
    private func isURLWithSecret(_ value: String, depth: Int) -> Bool {
        if depth > 2 { return false }
        let url = Self.decoded(value)
        return redacted(url: url, depth: depth + 1) != url
    }

    /// Returns the detail of an error, which may contain the start of a body. The common secrets are masked there
    /// already; an app may have named others.
    func redacted(detail: String) -> String {
        if names == .default || names == .none { return detail }
        return names.redactedText(of: detail.utf8, maximumByteCount: 2 * detail.utf8.count)
    }

    /// Returns the outcome without the response and the underlying error that a failure carries; both may hold secrets.
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

    /// Returns a body without the secrets that can be found: in JSON, whatever its media type is, and in forms.
    private func redacted(body: [UInt8], _ contentType: String?) -> [UInt8] {
        guard names != .none, !body.isEmpty else { return body }
        let mediaType = contentType.flatMap { MediaType($0) }
        if let document = try? JSONDocument(body) {
            let text = names.redactedText(of: document.root, maximumByteCount: .max, isIndented: false)
            return Array(text.utf8)
        }
        if mediaType?.isJSON == true {
            // Invalid JSON, for instance truncated; a mask may be longer than the secret that it replaces.
            return Array(names.redactedText(of: body, maximumByteCount: 16 * body.count).utf8)
        }
        if mediaType?.subtype == "x-www-form-urlencoded", let text = String(validating: body, as: UTF8.self) {
            return Array(redacted(pairs: text.unicodeScalars[...]).utf8)
        }
        return body
    }
}

/// Remembers which header fields are secret. Responses have the same few fields over and over, and reading the words of
/// a name takes longer than the rest of a field's record.
private final class KnownFields: Sendable, Equatable {
    /// The largest number of names. If more names arrive, all are forgotten and judged again.
    private static let maximumCount = 256

    /// Guards the verdicts by name. The names are stored as they are written, since capital letters divide the words of
    /// a name.
    private let verdicts = Mutex<[String: Bool]>([:])

    /// Always `true`: the verdicts follow from the other properties of a redaction.
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
    /// Whether there may be names within it.
    fileprivate var isNested: Bool {
        switch self {
        case .array, .object: true
        default: false
        }
    }
}
