/// The name of one of the places at which a service runs.
public struct ServiceEnvironment: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The name, as records and errors show it.
    public let name: String

    /// Where developers try what is not finished.
    public static let development = ServiceEnvironment("development")
    /// Where a release is tried before it is one.
    public static let releaseCandidate = ServiceEnvironment("release candidate")
    /// What the users of the app reach.
    public static let release = ServiceEnvironment("release")

    /// Makes a custom environment.
    public init(_ name: String) { self.name = name }

    /// Makes a custom environment.
    public init(stringLiteral name: String) { self.name = name }

    /// The name.
    public var description: String { name }
}
