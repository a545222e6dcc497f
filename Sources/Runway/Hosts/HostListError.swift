/// Why a list of addresses is not used, kept or read. The last good list stays.
public struct HostListError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What was found, in one sentence.
    public let description: String

    /// Makes an error.
    public init(_ description: String) { self.description = description }
}

extension HostListError: DescribedError {}
