/// The name of one of the places at which a service runs.
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
    /// The name, as records and errors show it.
    public let name: String

    /// The environment for unfinished versions.
    public static let development = ServiceEnvironment("development")
    /// The environment for testing a release before it is published.
    public static let releaseCandidate = ServiceEnvironment("release candidate")
    /// The environment for the users of the app.
    public static let release = ServiceEnvironment("release")

    /// Names an environment in addition to the three above.
    public init(_ name: String) { self.name = name }

    /// Names an environment in addition to the three above, by a literal.
    public init(stringLiteral name: String) { self.name = name }

    /// The name.
    public var description: String { name }
}
