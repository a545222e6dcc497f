/// Finds the keys that verify signatures.
///
/// ``InMemoryKeyDirectory`` stores keys in memory, ``FileKeyDirectory`` reads them from a file. A server with many keys
/// implements the protocol with its database. To reveal nothing by its timing, the implementation should take equally
/// long for unknown and known identifiers.
public protocol KeyDirectory: Sendable {
    /// Returns the record of a key, or `nil` if the identifier is unknown. If it throws, the signature is refused.
    func record(forKeyID id: String) async throws -> KeyRecord?

    /// One key of each kind in the directory. The algorithm determines the kind, and for RSA also the length of the
    /// key. The default is empty.
    ///
    /// A verifier reads it once, when it is created. To hide which identifiers are known, it refuses an unknown key
    /// only after the time that verifying with a key of one of these kinds takes. It learns further kinds from the
    /// first signature by such a key. Without examples, a new verifier treats an unknown key as one for
    /// `ecdsa-p256-sha256`; the time of a refusal can then reveal an identifier whose key has another algorithm.
    var exampleKeys: [VerificationKey] { get }
}

extension KeyDirectory {
    /// An empty array: no examples.
    public var exampleKeys: [VerificationKey] { [] }
}
