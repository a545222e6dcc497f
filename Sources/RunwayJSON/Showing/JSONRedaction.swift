/// Which members' values are secret, and text of JSON without them.
///
/// A member is secret by its name, compared without regard to case, `_`, `-` and spaces, so that `access_token`,
/// `accessToken` and `Access-Token` are one. Everything below a secret member is masked with it.
public struct JSONRedaction: Sendable, Hashable {
    private var secretNames: Set<String>

    /// What stands where a secret was.
    public static let mask = "[redacted]"

    /// The names that are secret in most services: passwords, tokens, keys, cookies, codes, cards.
    public static let `default` = JSONRedaction(secretNames: [
        "password", "passwd", "pwd", "passphrase", "passcode", "new_password", "old_password", "current_password",
        "password_confirmation", "confirm_password", "secret", "client_secret", "app_secret", "secret_key",
        "secret_access_key", "shared_secret", "token", "access_token", "refresh_token", "id_token", "auth_token",
        "bearer_token", "session_token", "device_token", "push_token", "csrf_token", "xsrf_token", "security_token",
        "jwt", "authorization", "proxy_authorization", "auth", "credential", "credentials", "cookie", "cookies",
        "set_cookie", "session", "session_id", "sid", "api_key", "x_api_key", "app_key", "access_key", "access_key_id",
        "private_key", "signing_key", "encryption_key", "signature", "sign", "otp", "one_time_password", "pin",
        "pin_code", "verification_code", "sms_code", "captcha", "mfa_code", "card_number", "credit_card",
        "credit_card_number", "cvv", "cvc", "security_code", "iban", "ssn", "social_security_number", "id_card",
        "id_card_number", "id_number", "passport_number",
    ])

    /// Nothing is secret.
    public static let none = JSONRedaction(secretNames: [])

    /// Makes a redaction of exactly these names.
    public init(secretNames: some Sequence<String>) {
        self.secretNames = Set(secretNames.map(Self.normalized))
    }

    /// The same redaction with more names.
    public func adding(_ names: some Sequence<String>) -> JSONRedaction {
        var redaction = self
        redaction.secretNames.formUnion(names.map(Self.normalized))
        return redaction
    }

    /// Whether a member of this name is secret. Of `user[password]` and `user.password` every part counts.
    public func isSecret(_ name: String) -> Bool {
        if secretNames.contains(Self.normalized(name)) { return true }
        // Few names have others within.
        guard name.utf8.contains(where: { "[].".utf8.contains($0) }) else { return false }
        return name.split { "[].".contains($0) }.contains { secretNames.contains(Self.normalized(String($0))) }
    }

    private static func normalized(_ name: String) -> String {
        let bytes = name.lowercased().utf8.filter { !"_- ".utf8.contains($0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A value as JSON with secrets masked, cut off with a note where it would grow beyond a size.
    ///
    /// A value that stands below a secret member is masked as a whole. Strings and numbers are as the document writes
    /// them, but for strings that hold secrets themselves, as a URL with an access token does, or JSON inside JSON: in these
    /// what follows a secret name is masked as in ``redactedText(of:maximumByteCount:)``.
    ///
    /// - Parameters:
    ///   - value: The value; a missing one gives a sentence that says so.
    ///   - maximumByteCount: About how many bytes of UTF-8 the text may have. Default 4096.
    ///   - isIndented: Whether every value has a line, two blanks a level before it, at most 64 levels. Default true; without,
    ///     the text is hardly longer than the value's bytes.
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

    /// Bytes that may or may not be JSON as one line of text, with what follows a secret name masked, cut off with "…"
    /// where it would grow beyond a size.
    ///
    /// For bodies that could not be read: members of JSON, whole or broken, pairs of forms, fields of headers, elements and
    /// attributes of XML are found by their look, a secret name with `:`, `=` or `>` behind it. In doubt too much is masked.
    ///
    /// - Parameters:
    ///   - bytes: The bytes; what is not UTF-8 is shown as U+FFFD, control characters as blanks. Zero bytes are left out:
    ///     without them the names in UTF-16 are found, too.
    ///   - maximumByteCount: How many bytes of UTF-8 the text may have before the "…"; a negative bound is zero.
    public func redactedText(of bytes: some Sequence<UInt8>, maximumByteCount: Int) -> String {
        let maximumByteCount = min(max(maximumByteCount, 0), Int.max / 4)
        // A secret that begins inside the bound may end outside; more than twice the bound is never looked at.
        var line = RedactedLine(redaction: self, bytes: bytes.prefix(2 * maximumByteCount + 1).filter { $0 != 0 })
        return line.text(maximumByteCount: maximumByteCount)
    }
}
