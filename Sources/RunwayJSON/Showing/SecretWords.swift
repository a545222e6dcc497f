/// Up to 16 bytes of lower-case ASCII as one number, which is compared and hashed without an allocation.
struct PackedWord: Hashable, Sendable {
    private var bits: UInt128 = 0
    private(set) var byteCount = 0

    init() {}

    init(_ word: some Sequence<UInt8>) { for byte in word { append(byte) } }

    /// Whether all of the word is in it.
    var isWhole: Bool { byteCount <= 16 }

    // Half the work of hashing both halves; the words are few and ours, apart from those that an app adds.
    func hash(into hasher: inout Hasher) { hasher.combine(UInt64(truncatingIfNeeded: bits ^ (bits >> 64))) }

    mutating func append(_ byte: UInt8) {
        bits = bits << 8 | UInt128(byte)
        byteCount += 1
    }

    mutating func removeLast() -> UInt8 {
        let byte = UInt8(truncatingIfNeeded: bits)
        bits >>= 8
        byteCount -= 1
        return byte
    }
}

/// The words of a name, as `-`, `_`, other signs and capital letters divide it: `X-Amz-Credential`, `user_password`, `idToken`.
///
/// It is read in one pass and without an allocation, since each name on every record is. Digits are no part of a word, so that
/// `Set-Cookie2` ends in a cookie.
struct NameWords {
    /// The name without its signs and without regard to case.
    private(set) var joined = PackedWord()
    /// The last word, and the one before it.
    private(set) var last = PackedWord()
    private(set) var previous = PackedWord()
    /// Whether any word is one that makes a header field secret wherever it stands.
    private(set) var hasFieldWord = false
    private(set) var isASCII = true

    init(_ name: some Sequence<UInt8>) {
        var isNewWord = true
        var capitalCount = 0
        for byte in name {
            let isCapital = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            let letter = isCapital ? byte | 0x20 : byte
            if byte >= 0x80 { isASCII = false }
            if !JSONRedaction.isIgnored(byte) { joined.append(letter) }
            guard (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter) else {
                if !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { isNewWord = true }
                capitalCount = 0
                continue
            }
            if isNewWord || (isCapital && capitalCount == 0) {
                endWord()
            } else if !isCapital, capitalCount > 1 {
                // The last of several capital letters begins a word, as the R of `SAMLResponse`.
                let first = last.removeLast()
                endWord()
                last.append(first)
            }
            last.append(letter)
            capitalCount = isCapital ? capitalCount + 1 : 0
            isNewWord = false
        }
        if SecretWords.ofFields.contains(last) { hasFieldWord = true }
    }

    private mutating func endWord() {
        if last.byteCount == 0 { return }
        if SecretWords.ofFields.contains(last) { hasFieldWord = true }
        (previous, last) = (last, PackedWord())
    }

    /// Whether the name says that its value is a secret: what it is stands last, as in `refresh_token`, but not in `token_type`.
    var endsInSecret: Bool {
        if SecretWords.endings.contains(last) { return !SecretWords.harmless.contains(previous) }
        return SecretWords.pairs[last]?.contains(previous) == true
    }
}

/// The words that tell a secret by its name.
enum SecretWords {
    /// What is secret whatever stands before it.
    static let endings = words(
        "password passwd pwd passphrase passcode pass secret token jwt signature sig credential credentials cookie"
            + " authorization assertion otp cvv cvc iban ssn hmac")

    /// Before one of ``endings`` these say that the value is a yes or no, or a mark in a list: `has_password`, `nextPageToken`,
    /// `Access-Control-Allow-Credentials`.
    static let harmless = words("has is with allow requires page continuation sync")

    /// What is secret only behind another word: a `key` is most often the key of a row, a `code` that of a country or an error.
    static let pairs: [PackedWord: Set<PackedWord>] = [
        "key": "api app access private secret signing encryption subscription account master session shared auth client"
            + " functions sealed",
        "code": "verification security auth authorization mfa sms pin otp recovery backup access device user",
        "id": "session", "confirmation": "password", "hash": "password", "digest": "password", "hint": "token",
        "verifier": "code", "response": "saml", "session": "x", "auth": "x", "number": "security",
    ].reduce(into: [:]) { $0[PackedWord($1.key.utf8)] = words($1.value) }

    /// What makes a header field secret wherever it stands in the field's name.
    static let ofFields = Array(words("session signature secret password"))

    private static func words(_ text: String) -> Set<PackedWord> {
        Set(text.utf8.split(separator: UInt8(ascii: " ")).map { PackedWord($0) })
    }
}
