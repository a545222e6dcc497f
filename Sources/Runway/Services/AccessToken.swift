public import struct Foundation.Date

/// Proves to a service that a call belongs to an account, until it expires.
///
/// Neither the description nor the mirror of a token contains a secret. A token is `Codable` only for token stores.
///
/// ```swift
/// let token = AccessToken(
///     try json["access_token"].require(String.self), account: try json["user"].require(String.self),
///     expiry: network.clock.date.addingTimeInterval(3600), refreshToken: json["refresh_token"].string)
/// try await network.signIn(token, to: Listings.self)
/// ```
public struct AccessToken: Sendable, Codable {
    /// The secret text of the token, as it is sent.
    public var value: String
    /// The account that the token belongs to. The app chooses the name of the account, for example a user number. The
    /// name must be the same at every sign-in.
    public var account: String
    /// The date at which the token expires; `nil` if the service states none.
    ///
    /// For a lifetime in seconds, use `network.clock.date.addingTimeInterval(lifetime)`.
    public var expiry: Date?
    /// The token for requesting a new access token; `nil` if the service issues none.
    public var refreshToken: String?

    /// Creates a token as received from a sign-in or a renewal.
    ///
    /// - Parameters:
    ///   - value: The secret text of the token, as it is sent.
    ///   - account: The account that the token belongs to.
    ///   - expiry: The date at which the token expires; `nil` if the service states none.
    ///   - refreshToken: The token for requesting a new access token; `nil` if the service issues none.
    public init(_ value: String, account: String, expiry: Date? = nil, refreshToken: String? = nil) {
        self.value = value
        self.account = account
        self.expiry = expiry
        self.refreshToken = refreshToken
    }
}

extension AccessToken: Equatable {
    /// Returns whether two tokens are equal. The time of the comparison does not depend on where the secrets differ.
    public static func == (lhs: AccessToken, rhs: AccessToken) -> Bool {
        let areValuesEqual = lhs.value.isEqualInConstantTime(to: rhs.value)
        let areRefreshTokensEqual = (lhs.refreshToken ?? "").isEqualInConstantTime(to: rhs.refreshToken ?? "")
        return areValuesEqual && areRefreshTokensEqual && (lhs.refreshToken == nil) == (rhs.refreshToken == nil)
            && lhs.account == rhs.account && lhs.expiry == rhs.expiry
    }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A text that names the account and contains none of the token's secrets.
    public var description: String { "AccessToken of \(account), \(Redaction.placeholder)" }

    /// A text that names the account and contains none of the token's secrets.
    public var debugDescription: String { description }

    /// A mirror with the account and the expiry, without the token's secrets.
    public var customMirror: Mirror { Mirror(self, children: ["account": account, "expiry": expiry as Any]) }
}

extension String {
    /// Returns whether two texts are equal. The time of the comparison depends only on their lengths.
    fileprivate func isEqualInConstantTime(to other: String) -> Bool {
        let (own, others) = (Array(utf8), Array(other.utf8))
        var difference: UInt8 = own.count == others.count ? 0 : 1
        for index in 0..<min(own.count, others.count) { difference |= own[index] ^ others[index] }
        return difference == 0
    }
}
