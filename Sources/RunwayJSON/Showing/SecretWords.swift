/// Up to 16 bytes of lower-case ASCII in one number, so that comparing and hashing allocate nothing.
struct PackedWord: Hashable, Sendable {
    private var bits: UInt128 = 0
    private(set) var byteCount = 0

    init() {}

    init(_ word: some Sequence<UInt8>) { for byte in word { append(byte) } }

    var isWhole: Bool { byteCount <= 16 }

    // Hashing 64 bits halves the work. Collision attacks are no concern, since the words are ours, except those that an
    // app adds.
    func hash(into hasher: inout Hasher) { hasher.combine(UInt64(truncatingIfNeeded: bits ^ (bits >> 64))) }

    mutating func append(_ byte: UInt8) {
        bits = bits << 8 | UInt128(byte)
        byteCount += 1
    }

    /// Returns whether the word ends in `end`, which must have at most 16 bytes.
    func hasSuffix(_ end: PackedWord) -> Bool {
        let mask: UInt128 = end.byteCount < 16 ? 1 << UInt128(8 * end.byteCount) - 1 : .max
        return byteCount >= end.byteCount && bits & mask == end.bits
    }

    /// Returns the word without its last `count` bytes. If the word has more than 16 bytes, the first bytes become
    /// zero.
    func dropLast(_ count: Int) -> PackedWord {
        var rest = self
        rest.bits >>= UInt128(8 * count)
        rest.byteCount -= count
        return rest
    }

    var lastByte: UInt8? { byteCount == 0 ? nil : UInt8(truncatingIfNeeded: bits) }

    mutating func removeLast() -> UInt8 {
        let byte = UInt8(truncatingIfNeeded: bits)
        bits >>= 8
        byteCount -= 1
        return byte
    }
}

/// The words of a name, divided by `-`, `_`, other signs and capital letters: `X-Amz-Credential`, `user_password`,
/// `idToken`.
///
/// The name is read in one pass without allocation, since every name in every record is checked. Digits are not part of
/// a word: `Set-Cookie2` ends in `cookie`.
struct NameWords {
    /// The name in lower case, without signs such as `-` and `_`.
    private(set) var joined = PackedWord()
    /// The last word of the name, and the word before it.
    private(set) var last = PackedWord()
    private(set) var previous = PackedWord()
    /// Whether the name contains a word that makes a header field secret at any position.
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
                // The last of several capital letters begins a word, as the R of `SAMLResponse` does.
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

    /// Whether the name is secret because of its last word: `refresh_token` is, `token_type` is not.
    var endsInSecret: Bool {
        guard let letter = last.lastByte else { return false }
        if SecretWords.endings[letter].contains(last) { return !SecretWords.harmless.contains(previous) }
        let pairs = SecretWords.pairs[letter]
        return pairs.contains { $0.second == last && $0.first == previous } || isJoinedSecret(of: pairs, letter)
    }

    /// Returns whether the last word consists of several words without a separator and ends in a secret one:
    /// `authtoken`, `apikey`.
    private func isJoinedSecret(of pairs: [WordPair], _ letter: UInt8) -> Bool {
        if let ending = SecretWords.joinedEndings[letter].first(where: last.hasSuffix) {
            return !SecretWords.harmless.contains(last.dropLast(ending.byteCount))
        }
        return pairs.contains { pair in
            pair.first.byteCount > 1 && last.hasSuffix(pair.second)
                && last.dropLast(pair.second.byteCount).hasSuffix(pair.first)
        }
    }
}

enum SecretWords {
    /// Words that make a name secret if they come last, or are the only word.
    static let endings = ByLastLetter(
        words(
            "password passwd pwd passphrase passcode pass secret token jwt signature sig credential credentials cookie"
                + " authorization assertion otp cvv cvc iban ssn hmac"), by: \.self)

    /// Words that make a following word of ``endings`` harmless: the value is then a Boolean or a position in a list.
    /// Examples are `has_password`, `nextPageToken` and `Access-Control-Allow-Credentials`.
    static let harmless = words("has is with allow requires page continuation sync nextpage nextsync")

    /// The ``endings`` that no other English word ends in. They are also secret at the end of a longer word:
    /// `authtoken`, `userpassword`. HTTP/2 sends field names in lower case, where capital letters cannot divide words.
    static let joinedEndings = ByLastLetter(
        words(
            "password passwd pwd passphrase passcode secret token jwt signature credential credentials cookie"
                + " authorization otp cvv cvc hmac"), by: \.self)

    /// Words that are secret only after another word: a `key` often belongs to a table row, a `code` to a country or an
    /// error. They may also end a word without a separator, as in `apikey` and `sessionid`, except after a single
    /// letter.
    static let pairs = ByLastLetter(
        wordsBefore.flatMap { second, firsts in
            words(firsts).map { WordPair(first: $0, second: PackedWord(second.utf8)) }
        }, by: \.second)

    private static let wordsBefore = [
        "key": "api app access private secret signing encryption subscription account master session shared auth client"
            + " functions sealed",
        "code": "verification security auth authorization mfa sms pin otp recovery backup access device user",
        "id": "session", "confirmation": "password", "hash": "password", "digest": "password", "hint": "token",
        "verifier": "code", "response": "saml", "session": "x", "auth": "x", "number": "security",
    ]

    static let ofFields = Array(words("session signature secret password"))

    private static func words(_ text: String) -> Set<PackedWord> {
        Set(text.utf8.split(separator: UInt8(ascii: " ")).map { PackedWord($0) })
    }
}

/// Two words that indicate a secret if `second` directly follows `first`.
struct WordPair: Sendable {
    let first: PackedWord
    let second: PackedWord
}

/// Elements grouped by the last letter of a word, so that a name is compared only with words that end in its last
/// letter.
struct ByLastLetter<Element: Sendable>: Sendable {
    private static var letters: ClosedRange<UInt8> { UInt8(ascii: "a")...UInt8(ascii: "z") }

    private let groups: [[Element]]

    init(_ elements: some Sequence<Element>, by word: (Element) -> PackedWord) {
        let grouped = Dictionary(grouping: elements) { word($0).lastByte }
        groups = Self.letters.map { grouped[$0] ?? [] }
    }

    subscript(_ letter: UInt8) -> [Element] {
        Self.letters.contains(letter) ? groups[Int(letter - Self.letters.lowerBound)] : []
    }
}
