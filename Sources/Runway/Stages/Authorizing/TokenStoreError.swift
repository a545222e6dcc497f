/// Why a store does not give or keep a token.
public struct TokenStoreError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What was found, in one sentence, without secrets.
    public let description: String

    /// Makes an error.
    public init(_ description: String) { self.description = description }
}

extension TokenStoreError: DescribedError {}
