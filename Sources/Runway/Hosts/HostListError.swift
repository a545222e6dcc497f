/// Why a list of addresses is invalid or can't be read. The last valid list stays in use.
public struct HostListError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reason, in one sentence.
    public let description: String

    /// Creates an error.
    public init(_ description: String) { self.description = description }
}

extension HostListError: DescribedError {}
