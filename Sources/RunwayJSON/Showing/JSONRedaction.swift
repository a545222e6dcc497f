/// Decides by name which members are secret, and writes JSON text with their values masked.
///
/// Names are compared without case, `_`, `-` and spaces: `access_token`, `accessToken` and `Access-Token` are equal.
/// All values below a secret member are masked.
public struct JSONRedaction: Sendable, Hashable {
    /// The secret names of at most 16 ASCII bytes are in `shortNames`, where a lookup needs no allocation.
    private var shortNames: Set<PackedWord> = []
    private var longNames: Set<String> = []
    /// Whether a name is also secret if it ends with certain words.
    private let readsWords: Bool

    /// The text that replaces a secret.
    public static let mask = "[redacted]"

    /// Masks values that are secret in most services: passwords, tokens, keys, signatures, cookies, codes, cards.
    ///
    /// A name is secret because of its last word or words. Separators and capital letters divide words.
    ///
    /// - Secret: `user_password`, `idToken`, `X-Amz-Signature`, `X-Vault-Token`, `client_assertion`, `SAMLResponse`;
    ///   also `authtoken` and `x-apikey`, since HTTP/2 sends names in lower case.
    /// - Not secret: `token_type`, `passenger`, `nextPageToken`.
    /// - Secret only as whole names: `key`, `auth`, `pin` and `session`.
    /// - Secret if the value is a string: `access` and `refresh`, a pair of tokens.
    ///
    /// A JSON member `code` is not secret, because many services use it for an error code. A query or form parameter
    /// `code` is secret, because it completes a login (RFC 6749 §4.1.2).
    public static let `default` = JSONRedaction(
        secretNames: [
            "key", "auth", "cookies", "session", "sid", "sessid", "phpsessid", "jsessionid", "aws_access_key_id",
            "access_key_id", "app_key", "sign", "pin", "captcha", "card_number", "credit_card", "credit_card_number",
            "id_card", "id_card_number", "id_number", "passport_number", "wresult", "dpop",
            // These names also occur written as one word, without separators.
            "api_key", "x_api_key", "access_token", "refresh_token", "id_token", "auth_token", "bearer_token",
            "session_token", "device_token", "push_token", "csrf_token", "xsrf_token", "security_token", "session_id",
            "client_secret", "app_secret", "shared_secret", "secret_key", "secret_access_key", "access_key",
            "private_key",
            "signing_key", "encryption_key", "set_cookie", "new_password", "old_password", "current_password",
            "user_password", "one_time_password", "confirm_password", "verification_code", "security_code", "sms_code",
            "mfa_code", "pin_code", "password", "passwd", "passphrase", "passcode", "saml_response",
        ], readsWords: true)

    /// Masks no value.
    public static let none = JSONRedaction(secretNames: [])

    /// Masks only values whose names are in `secretNames`.
    public init(secretNames: some Sequence<String>) { self.init(secretNames: secretNames, readsWords: false) }

    private init(secretNames: some Sequence<String>, readsWords: Bool) {
        self.readsWords = readsWords
        add(secretNames)
    }

    /// Returns a copy of this redaction that also masks the values of members with these names.
    public func adding(_ names: some Sequence<String>) -> JSONRedaction {
        var redaction = self
        redaction.add(names)
        return redaction
    }

    private mutating func add(_ names: some Sequence<String>) {
        for name in names {
            let words = NameWords(name.utf8)
            if words.isASCII, words.joined.isWhole {
                shortNames.insert(words.joined)
            } else {
                longNames.insert(Self.normalized(name))
            }
        }
    }

    /// Returns whether a member of this name is secret. Every part of `user[password]` and `user.password` is checked.
    public func isSecret(_ name: String) -> Bool { isSecret(name) { _ in false } }

    /// Returns whether a query or form parameter is secret: by the rule for members, or because its name is `code`.
    package func isSecretParameter(_ name: String) -> Bool {
        isSecret(name) { readsWords && $0.joined == Self.code }
    }

    /// Returns whether a parameter whose value is a string is secret: by the rule for parameters, or because its name
    /// is `access` or `refresh`.
    package func isSecretStringParameter(_ name: String) -> Bool {
        isSecret(name) { readsWords && ($0.joined == Self.code || Self.tokenPair.contains($0.joined)) }
    }

    /// Returns whether a member whose value is a string is secret: by the rule for members, or because its name is
    /// `access` or `refresh`.
    package func isSecretString(_ name: String) -> Bool {
        isSecret(name) { readsWords && Self.tokenPair.contains($0.joined) }
    }

    /// Returns whether a header field is secret: by the rule for members, or because its name contains certain words
    /// anywhere, as in `X-Session-Data` or `Signature-Input`.
    package func isSecretField(_ name: String) -> Bool { isSecret(name) { readsWords && $0.hasFieldWord } }

    private static let code = PackedWord("code".utf8)
    private static let tokenPair = [PackedWord("access".utf8), PackedWord("refresh".utf8)]

    private func isSecret(_ name: String, _ isSecretToo: (NameWords) -> Bool) -> Bool {
        if isSecretPart(name, isSecretToo) { return true }
        // Few names have several parts, so the common case returns early.
        guard name.utf8.contains(where: Self.isDivider) else { return false }
        return name.split { "[].".contains($0) }.contains { isSecretPart(String($0), isSecretToo) }
    }

    private func isSecretPart(_ name: String, _ isSecretToo: (NameWords) -> Bool) -> Bool {
        let words = NameWords(name.utf8)
        if words.isASCII, words.joined.isWhole {
            if shortNames.contains(words.joined) { return true }
        } else if !longNames.isEmpty, longNames.contains(Self.normalized(name)) {
            return true
        }
        return (readsWords && words.endsInSecret) || isSecretToo(words)
    }

    static func isIgnored(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: " ")
    }

    /// Whether a byte separates the parts of names such as `user[password]` and `user.password`.
    private static func isDivider(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: ".")
    }

    private static func normalized(_ name: String) -> String {
        String(decoding: name.lowercased().utf8.filter { !isIgnored($0) }, as: UTF8.self)
    }

    /// Returns a value as JSON with secrets masked. The text is truncated with a note after about `maximumByteCount`
    /// bytes.
    ///
    /// A value below a secret member is masked as a whole. Other values are unchanged, except strings that contain
    /// secrets, such as a URL with an access token or nested JSON. In these, the text after a secret name is masked as
    /// in ``redactedText(of:maximumByteCount:)``.
    ///
    /// - Parameters:
    ///   - value: The value. A missing value yields a sentence.
    ///   - maximumByteCount: The approximate limit of the text in bytes of UTF-8. The default is 4096.
    ///   - isIndented: Whether every value is on its own line, indented by two spaces per level, at most 64 levels. The
    ///     default is `true`. Otherwise, the text is hardly longer than the value's bytes.
    public func redactedText(of value: JSONValue, maximumByteCount: Int = 4096, isIndented: Bool = true) -> String {
        switch value.storage.absence {
        case .invalid(let error): return "invalid: \(error)"
        case .lookup: return "missing: \(JSONError.shortened(value.path))"
        case nil: break
        }
        if value.isSecret(by: self) { return "\"\(Self.mask)\"" }
        var text = RedactedText(redaction: self, maximumByteCount: maximumByteCount, isIndented: isIndented)
        return text.text(of: value)
    }

    /// Returns bytes, which need not be JSON, as one line of text. The text after secret names is masked. The line is
    /// truncated with "…" after `maximumByteCount` bytes.
    ///
    /// Use it for bodies that could not be read. A secret name followed by `:`, `=` or `>` is recognised in valid and
    /// invalid JSON, form pairs, header fields, and XML elements and attributes. In doubt, text is masked.
    ///
    /// - Parameters:
    ///   - bytes: The bytes. Invalid UTF-8 is shown as U+FFFD, control characters as spaces. Zero bytes are removed, so
    ///     that names in UTF-16 text are found.
    ///   - maximumByteCount: The maximum number of UTF-8 bytes before the "…"; a negative limit counts as zero.
    public func redactedText(of bytes: some Sequence<UInt8>, maximumByteCount: Int) -> String {
        let maximumByteCount = min(max(maximumByteCount, 0), Int.max / 4)
        // A secret that begins within the limit may end beyond it, so up to twice the limit is read.
        var line = RedactedLine(redaction: self, bytes: bytes.prefix(2 * maximumByteCount + 1).filter { $0 != 0 })
        return line.text(maximumByteCount: maximumByteCount)
    }
}
