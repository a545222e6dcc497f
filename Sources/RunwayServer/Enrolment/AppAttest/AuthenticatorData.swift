/// The authenticator data of Web Authentication §6.1, with the fields that App Attest uses.
struct AuthenticatorData: Sendable {
    /// The SHA-256 of the app identifier.
    let appHash: [UInt8]
    /// The number of signatures that the key has made.
    let counter: UInt32
    /// The environment of the attestation service, and the identifier of the key; `nil` in an assertion.
    let attested: (environment: [UInt8], keyID: [UInt8])?

    /// Parses the data. Returns `nil` if there are too few bytes, or if an expected key is absent.
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
        // The public key that follows is ignored, since the key in the certificate is authoritative.
        guard bytes.count >= 55 + length else { return nil }
        attested = (Array(bytes[37..<53]), Array(bytes[55..<55 + length]))
    }
}
