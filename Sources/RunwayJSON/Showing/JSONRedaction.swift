/// Decides which members' values are secret, and writes JSON text without them.
///
/// A member is secret by its name, compared without regard to case, `_`, `-` and spaces, so that `access_token`,
/// `accessToken` and `Access-Token` are equal. Everything below a secret member is masked with it.
public struct JSONRedaction: Sendable, Hashable {
    /// The secret names of at most 16 bytes of ASCII, which are looked up without an allocation, and the others.
    private var shortNames: Set<PackedWord> = []
    private var longNames: Set<String> = []
    /// Whether names are secret by their words as well.
    private let readsWords: Bool

    /// Replaces a secret.
    public static let mask = "[redacted]"

    /// What is secret in most services: passwords, tokens, keys, signatures, cookies, codes, cards.
    ///
    /// A name is secret because of its last word or words; separators and capital letters divide it. `user_password`,
    /// `idToken`, `X-Amz-Signature`, `X-Vault-Token`, `client_assertion` and `SAMLResponse` are secret; `token_type`,
    /// `passenger` and `nextPageToken` are not; `authtoken` and `x-apikey` are, as HTTP/2 sends such names. `key`,
    /// `auth`, `pin` and `session` are secret only as whole names, and `access` and `refresh`, a pair of tokens, if the
    /// value is a string.
    ///
    /// A JSON member `code` is not secret, because many services use it for an error code. A query or form parameter
    /// `code` is secret, because it completes a login (RFC 6749 §4.1.2).
    public static let `default` = JSONRedaction(
        secretNames: [
            "key", "auth", "cookies", "session", "sid", "sessid", "phpsessid", "jsessionid", "aws_access_key_id",
            "access_key_id", "app_key", "sign", "pin", "captcha", "card_number", "credit_card", "credit_card_number",
            "id_card", "id_card_number", "id_number", "passport_number", "wresult", "dpop",
            // As one word, which has no signs that divide it.
            "api_key", "x_api_key", "access_token", "refresh_token", "id_token", "auth_token", "bearer_token",
            "session_token", "device_token", "push_token", "csrf_token", "xsrf_token", "security_token", "session_id",
            "client_secret", "app_secret", "shared_secret", "secret_key", "secret_access_key", "access_key",
            "private_key",
            "signing_key", "encryption_key", "set_cookie", "new_password", "old_password", "current_password",
            "user_password", "one_time_password", "confirm_password", "verification_code", "security_code", "sms_code",
            "mfa_code", "pin_code", "password", "passwd", "passphrase", "passcode", "saml_response",
        ], readsWords: true)

    /// Nothing is secret.
    public static let none = JSONRedaction(secretNames: [])

    /// Masks the values of exactly these names.
    public init(secretNames: some Sequence<String>) { self.init(secretNames: secretNames, readsWords: false) }

    private init(secretNames: some Sequence<String>, readsWords: Bool) {
        self.readsWords = readsWords
        add(secretNames)
    }

    /// The same redaction with more names.
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

    /// Whether a member of this name is secret. Of `user[password]` and `user.password` every part counts.
    public func isSecret(_ name: String) -> Bool { isSecret(name) { _ in false } }

    /// Whether a parameter of a query or a form of this name is secret: a member's rule, and `code`.
    package func isSecretParameter(_ name: String) -> Bool {
        isSecret(name) { readsWords && $0.joined == Self.code }
    }

    /// Whether a parameter of this name is secret if its value is a string: the rule of any parameter, and `access` and
    /// `refresh`.
    package func isSecretStringParameter(_ name: String) -> Bool {
        isSecret(name) { readsWords && ($0.joined == Self.code || Self.tokenPair.contains($0.joined)) }
    }

    /// Whether a member of this name is secret if its value is a string: the rule of any member, and `access` and
    /// `refresh`.
    package func isSecretString(_ name: String) -> Bool {
        isSecret(name) { readsWords && Self.tokenPair.contains($0.joined) }
    }

    /// Whether a header field of this name is secret: by the rule for members, and by certain words at any position, as
    /// in `X-Session-Data` or `Signature-Input`.
    package func isSecretField(_ name: String) -> Bool { isSecret(name) { readsWords && $0.hasFieldWord } }

    private static let code = PackedWord("code".utf8)
    private static let tokenPair = [PackedWord("access".utf8), PackedWord("refresh".utf8)]

    private func isSecret(_ name: String, _ isSecretToo: (NameWords) -> Bool) -> Bool {
        if isSecretPart(name, isSecretToo) { return true }
        // Few names have others within.
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

    /// Whether a byte of a name does not count when names are compared.
    static func isIgnored(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: " ")
    }

    /// Whether a byte divides a name into parts, as in `user[password]` and `user.password`.
    private static func isDivider(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: ".")
    }

    private static func normalized(_ name: String) -> String {
        String(decoding: name.lowercased().utf8.filter { !isIgnored($0) }, as: UTF8.self)
    }

    /// Returns a value as JSON with secrets masked, truncated with a note at a size.
    ///
    /// A value below a secret member is masked as a whole. Strings and numbers are unchanged, except for strings that
    /// contain secrets themselves, such as a URL with an access token, or JSON inside JSON: in these the text after a
    /// secret name is masked as in ``redactedText(of:maximumByteCount:)``.
    ///
    /// - Parameters:
    ///   - value: The value; a missing one yields a sentence.
    ///   - maximumByteCount: About how many bytes of UTF-8 the text may have. The default is 4096.
    ///   - isIndented: Whether every value is on a line of its own, indented by two for each level, at most 64 levels.
    ///     The default is `true`; otherwise, the text is hardly longer than the value's bytes.
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

    /// Returns bytes that may or may not be JSON as one line of text, with the text after secret names masked,
    /// truncated with "…" at a size.
    ///
    /// For bodies that could not be read: members of JSON, valid or not, pairs of forms, header fields, elements and
    /// attributes of XML are recognised by a secret name followed by `:`, `=` or `>`. In doubt too much is masked.
    ///
    /// - Parameters:
    ///   - bytes: The bytes. Invalid UTF-8 is shown as U+FFFD, control characters as spaces. Zero bytes are removed, so
    ///     that names in UTF-16 text are found too.
    ///   - maximumByteCount: How many bytes of UTF-8 the text may have before the "…"; a negative bound is zero.
    public func redactedText(of bytes: some Sequence<UInt8>, maximumByteCount: Int) -> String {
        let maximumByteCount = min(max(maximumByteCount, 0), Int.max / 4)
        // A secret that begins inside the bound may end outside; more than twice the bound is never looked at.
        var line = RedactedLine(redaction: self, bytes: bytes.prefix(2 * maximumByteCount + 1).filter { $0 != 0 })
        return line.text(maximumByteCount: maximumByteCount)
    }
}
