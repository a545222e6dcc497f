import RunwaySignatures

/// Generates Swift source with a masked key.
///
/// Neither the source nor the compiled program contains the key's text. Both contain random bytes, and the exclusive or
/// of the text and these bytes. The program combines the two when it uses the key. Anyone who has the program can do
/// the same.
struct EmbeddedKeySource {
    let name: String
    let id: String
    let algorithm: String
    let masked: [UInt8]
    let mask: [UInt8]

    /// - Parameters:
    ///   - id: An identifier that ``KeyID/check(_:of:)`` accepts. It becomes part of a string literal and of a comment.
    ///   - text: The key in the text form of `SigningKey.init(_:text:)`.
    ///   - mask: Random bytes, as many as the UTF-8 bytes of `text`.
    init(name: String, id: String, algorithm: String, text: String, mask: [UInt8]) {
        precondition(mask.count == text.utf8.count, "A mask is as long as the text")
        precondition(SaltedDigest.isKeyID(id[...]), "An identifier has no character that ends a literal or a comment")
        (self.name, self.id, self.algorithm, self.mask) = (name, id, algorithm, mask)
        masked = zip(text.utf8, mask).map { $0 ^ $1 }
    }

    /// Returns as many random bytes as `text` has UTF-8 bytes.
    static func randomMask(for text: String) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return text.utf8.map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    var text: String {
        """
        // The key \(id) for \(algorithm), masked by "runway keys embed".
        //
        // It is no secret to anyone who has the program: the mask keeps it out of a search for texts, and
        // nothing more. Prefer a key that the server issues or enrols after login.

        import RunwaySignatures

        enum \(name) {
            /// The identifier of the key.
            static let id = "\(id)"

            /// Returns the key that signs.
            static func signingKey() throws -> SigningKey {
                guard let algorithm = SignatureAlgorithm(name: "\(algorithm)") else {
                    preconditionFailure("The algorithm is known")
                }
                return try SigningKey(algorithm, text: unmasked(masked, by: mask))
            }

            // The function is never inlined, so that the compiler does not combine the constants.
            @inline(never)
            private static func unmasked(_ bytes: [UInt8], by mask: [UInt8]) -> String {
                String(decoding: zip(bytes, mask).map { $0 ^ $1 }, as: UTF8.self)
            }

            private static let masked: [UInt8] = [
        \(Self.lines(masked))
            ]

            private static let mask: [UInt8] = [
        \(Self.lines(mask))
            ]
        }

        """
    }

    /// Formats bytes in hexadecimal, 16 per line.
    private static func lines(_ bytes: [UInt8]) -> String {
        stride(from: 0, to: bytes.count, by: 16).map { start in
            let line = bytes[start..<min(start + 16, bytes.count)]
            let numbers = line.map { "0x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            return "        " + numbers.joined(separator: ", ") + ","
        }.joined(separator: "\n")
    }
}
