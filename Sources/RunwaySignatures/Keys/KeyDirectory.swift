/// Finds the keys of signatures.
///
/// ``InMemoryKeyDirectory`` has its keys in memory, ``FileKeyDirectory`` in a file. A server with many keys implements the protocol
/// over its database. The implementation should take as long for an identifier that is unknown as for one that is known.
public protocol KeyDirectory: Sendable {
    /// The record of a key. `nil` if the identifier is unknown. If it throws, the signature is refused.
    func record(forKeyID id: String) async throws -> KeyRecord?
}
