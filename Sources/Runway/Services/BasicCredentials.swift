import Foundation
import HTTPTypes

/// Adds a user name and a password to each request: Basic authentication (RFC 7617).
///
/// ```swift
/// enum Printers: APIService {
///     static let environments: [ServiceEnvironment: String] = [.release: "https://printers.example.com"]
///     static let credentials: (any Credentials)? = BasicCredentials()
/// }
///
/// try await network.signIn(.basic(user: name, password: password, account: name), to: Printers.self)
/// ```
///
/// The user name and the password are the ``AccessToken`` of the account that signs in, so the rules for tokens apply:
/// - Stored responses and cookies belong to the account.
/// - Requests are neither shared nor merged with those of another account.
/// - The ``TokenStore`` stores the token.
/// - Records and errors show neither the name nor the password, and no redirect to another origin carries them.
/// - If the service refuses the token, the calls fail as ``NetworkError/Kind/needsLogin``, because it can't be renewed.
///   The app is notified; see ``NeedsLogin``.
///
/// Anyone who can read such a request learns the password. Use Basic authentication only over TLS, which the layer
/// enforces unless ``APIService/allowsPlainHTTP`` is `true`.
public struct BasicCredentials: Credentials {
    /// Creates credentials that send the user name and the password in the account's token.
    public init() {}

    /// Sets the header field `Authorization: Basic …` of the request.
    public func authorize(_ request: inout Request, with token: AccessToken) {
        request.head.headerFields[.authorization] = "Basic \(token.value)"
    }

    /// Throws ``NetworkError/Kind/needsLogin``, because only the user can supply another password.
    public func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken {
        throw NetworkError(.needsLogin, in: .authorizing, "The user name and the password were refused.")
    }

    /// Returns the secrets to redact: the token, and the user name and password in it.
    public func secrets(of token: AccessToken) -> [String] {
        guard let bytes = Data(base64Encoded: token.value), let text = String(validating: bytes, as: UTF8.self) else {
            return [token.value]
        }
        return [token.value, text] + text.split(separator: ":", maxSplits: 1).map(String.init)
    }
}

extension AccessToken {
    /// Creates the token of an account that signs in with a user name and a password; see ``BasicCredentials``.
    ///
    /// Both are sent in UTF-8 and normalised to NFC (RFC 7617 §2.1), even if the server names another charset. For a
    /// server that requires another charset, write your own ``Credentials``.
    ///
    /// - Parameters:
    ///   - user: The user name, which may be empty.
    ///   - password: The password, which may be empty.
    ///   - account: The account that the token belongs to. It is not treated as secret. If the user name is secret,
    ///     like an API key, pass another text.
    /// - Throws: ``NetworkError/Kind/invalidParameters`` if the user name contains a colon, or if either contains a
    ///   control character (RFC 7617 §2).
    public static func basic(
        user: String, password: String, account: String
    ) throws(NetworkError) -> AccessToken {
        func invalid(_ detail: String) -> NetworkError { NetworkError(.invalidParameters, in: .authorizing, detail) }
        if user.unicodeScalars.contains(":") {
            throw invalid("The user name contains a colon, where the password of Basic authentication would begin.")
        }
        for text in [user, password] where text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        {
            throw invalid("The user name or the password contains a control character.")
        }
        let (user, password) = (
            user.precomposedStringWithCanonicalMapping, password.precomposedStringWithCanonicalMapping
        )
        return AccessToken(Data("\(user):\(password)".utf8).base64EncodedString(), account: account)
    }
}
