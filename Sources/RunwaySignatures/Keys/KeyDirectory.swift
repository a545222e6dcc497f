/// Finds the keys of signatures.
///
/// ``InMemoryKeyDirectory`` has its keys in memory, ``FileKeyDirectory`` in a file. A server with many keys implements
/// the protocol over its database. The implementation should take as long for an identifier that is unknown as for one
/// that is known.
public protocol KeyDirectory: Sendable {
    /// Returns the record of a key. `nil` if the identifier is unknown. If it throws, the signature is refused.
    func record(forKeyID id: String) async throws -> KeyRecord?

    /// A key of each kind that the directory has: of each algorithm, and for RSA of each length. The default is empty.
    ///
    /// A verifier reads it once, when it is created. It refuses an unknown key in the time of a key of one of these
    /// kinds. It learns further kinds from the first signature by a key of that kind. Without examples, a verifier that
    /// has just started treats an unknown key like one for `ecdsa-p256-sha256`, so that the time of a refusal can show
    /// that an identifier belongs to a key for another algorithm.
    var exampleKeys: [VerificationKey] { get }
}

extension KeyDirectory {
    /// No examples.
    public var exampleKeys: [VerificationKey] { [] }
}
