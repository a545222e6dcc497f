import RunwaySignatures

/// Swift source that has a key, masked.
///
/// The key's text does not occur in the source, nor in the program that is compiled from it: both have random bytes,
/// and the text by exclusive or with them, which are combined when the key is used. Whoever has the program can combine
/// them, too.
struct EmbeddedKeySource {
    let name: String
    let id: String
    let algorithm: String
    let masked: [UInt8]
    let mask: [UInt8]

    /// - Parameters:
    ///   - id: The identifier, which ``KeyID/check(_:of:)`` accepts: it becomes part of a string literal and of a
    ///     comment.
    ///   - text: The key, as `SigningKey.init(_:text:)` reads it.
    ///   - mask: Random bytes, as many as the bytes of the text.
    init(name: String, id: String, algorithm: String, text: String, mask: [UInt8]) {
        precondition(mask.count == text.utf8.count, "A mask is as long as the text")
        precondition(SaltedDigest.isKeyID(id[...]), "An identifier has no character that ends a literal or a comment")
        (self.name, self.id, self.algorithm, self.mask) = (name, id, algorithm, mask)
        masked = zip(text.utf8, mask).map { $0 ^ $1 }
    }

    /// Returns random bytes to mask a text.
    static func randomMask(for text: String) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return text.utf8.map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// The source.
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

            // Never inlined, so that the compiler does not combine the constants.
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

    /// Numbers in hexadecimal, 16 in a line.
    private static func lines(_ bytes: [UInt8]) -> String {
        stride(from: 0, to: bytes.count, by: 16).map { start in
            let line = bytes[start..<min(start + 16, bytes.count)]
            let numbers = line.map { "0x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            return "        " + numbers.joined(separator: ", ") + ","
        }.joined(separator: "\n")
    }
}
