/// The name of an environment in which a service runs, such as development or release.
///
/// ```swift
/// enum Shop: APIService {
///     static let environments: [ServiceEnvironment: String] = [
///         .development: "http://localhost:8080", "test": "https://test.example.com",
///         .release: "https://api.example.com",
///     ]
/// }
/// ```
public struct ServiceEnvironment: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The name of the environment in records and errors.
    public let name: String

    /// The environment for versions under development.
    public static let development = ServiceEnvironment("development")
    /// The environment for tests before a release.
    public static let releaseCandidate = ServiceEnvironment("release candidate")
    /// The environment for the users of the app.
    public static let release = ServiceEnvironment("release")

    /// Creates a further environment in addition to the predefined ones.
    public init(_ name: String) { self.name = name }

    /// Creates a further environment from a literal.
    public init(stringLiteral name: String) { self.name = name }

    /// The name of the environment.
    public var description: String { name }
}
