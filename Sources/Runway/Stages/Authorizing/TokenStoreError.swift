/// Why a store can't load, save or remove a token.
public struct TokenStoreError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reason in one sentence, without secrets.
    public let description: String

    /// Creates an error.
    public init(_ description: String) { self.description = description }
}

extension TokenStoreError: DescribedError {}
