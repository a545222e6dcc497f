/// The data of an authenticator about itself and its key (Web Authentication §6.1), as App Attest uses them.
struct AuthenticatorData: Sendable {
    /// The SHA-256 of the identifier of the app.
    let appHash: [UInt8]
    /// The number of signatures that the key has made.
    let counter: UInt32
    /// The environment of the attestation service and the identifier of the key; `nil` in an assertion.
    let attested: (environment: [UInt8], keyID: [UInt8])?

    /// Reads the data. Returns `nil` if there are too few bytes, or no key although one is expected.
    init?(_ bytes: [UInt8], hasKey: Bool) {
        guard bytes.count >= 37 else { return nil }
        appHash = Array(bytes[..<32])
        counter = bytes[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
        guard hasKey else {
            attested = nil
            return
        }
        guard bytes[32] & 0x40 != 0, bytes.count >= 55 else { return nil }
        let length = Int(bytes[53]) << 8 | Int(bytes[54])
        // The public key that follows is also in the certificate, whose key is the one that counts.
        guard bytes.count >= 55 + length else { return nil }
        attested = (Array(bytes[37..<53]), Array(bytes[55..<55 + length]))
    }
}
