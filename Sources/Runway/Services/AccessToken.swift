public import struct Foundation.Date

/// Proves to a service that a call belongs to an account, until it expires.
///
/// Neither its description nor its reflection shows a secret. It is `Codable` only for token stores.
///
/// ```swift
/// let token = AccessToken(
///     try json["access_token"].require(String.self), account: try json["user"].require(String.self),
///     expiry: network.clock.date.addingTimeInterval(3600), refreshToken: json["refresh_token"].string)
/// try await network.signIn(token, to: Listings.self)
/// ```
public struct AccessToken: Sendable, Codable {
    /// The token as it is sent.
    public var value: String
    /// The owner of the token: a name that the app chooses and that is the same at every sign-in, such as the number of
    /// the user.
    public var account: String
    /// The date at which the token expires; `nil` if the service names none.
    ///
    /// For a lifetime in seconds: `network.clock.date.addingTimeInterval(lifetime)`.
    public var expiry: Date?
    /// The token with which a new token is requested, if the service issues one.
    public var refreshToken: String?

    /// Creates a token as received from a sign-in or a renewal.
    ///
    /// - Parameters:
    ///   - value: The token as it is sent.
    ///   - account: The account that the token belongs to.
    ///   - expiry: The date at which the token expires; `nil` if the service names none.
    ///   - refreshToken: The token with which a new token is requested.
    public init(_ value: String, account: String, expiry: Date? = nil, refreshToken: String? = nil) {
        self.value = value
        self.account = account
        self.expiry = expiry
        self.refreshToken = refreshToken
    }
}

extension AccessToken: Equatable {
    /// Whether two tokens are equal. The time of the comparison does not depend on where secrets differ.
    public static func == (lhs: AccessToken, rhs: AccessToken) -> Bool {
        let areValuesEqual = lhs.value.isEqualInConstantTime(to: rhs.value)
        let areRefreshTokensEqual = (lhs.refreshToken ?? "").isEqualInConstantTime(to: rhs.refreshToken ?? "")
        return areValuesEqual && areRefreshTokensEqual && (lhs.refreshToken == nil) == (rhs.refreshToken == nil)
            && lhs.account == rhs.account && lhs.expiry == rhs.expiry
    }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The owner of the token, without its secrets.
    public var description: String { "AccessToken of \(account), \(Redaction.placeholder)" }

    /// The owner of the token, without its secrets.
    public var debugDescription: String { description }

    /// The owner and the expiry of the token, without its secrets.
    public var customMirror: Mirror { Mirror(self, children: ["account": account, "expiry": expiry as Any]) }
}

extension String {
    /// Whether two texts are equal. The time of the comparison depends only on their lengths.
    fileprivate func isEqualInConstantTime(to other: String) -> Bool {
        let (own, others) = (Array(utf8), Array(other.utf8))
        var difference: UInt8 = own.count == others.count ? 0 : 1
        for index in 0..<min(own.count, others.count) { difference |= own[index] ^ others[index] }
        return difference == 0
    }
}
