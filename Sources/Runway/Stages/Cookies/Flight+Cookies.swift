import HTTPTypes

// The cookies that identify the sender of a call. All code that separates stored responses by sender uses these
// properties.
extension Flight {
    /// The version of the cookies that identify the sender if there is no account. It is 0 if an account is signed in,
    /// no jar is used, or the jar is empty.
    ///
    /// The version is constant during the whole call. A response that changes the cookies is therefore stored for the
    /// sender of its request.
    var cookieVersion: UInt64 {
        guard account == nil, case .jar = configuration.settings.cookies else { return 0 }
        let date = clock.date
        let version =
            context.cookieJars.withJar(of: self) { jar -> UInt64 in
                jar.removeEnded(at: date)
                return jar.version
            } ?? 0
        return remembered(FirstCookieVersion.self, or: version)
    }

    /// Returns whether the response belongs to the sender that the cache lookup assumed. The result is always `true` if
    /// the call has an account or uses no cookie jar. Otherwise the request must have had the same cookies, and the
    /// response must not have set the first cookies.
    func hasSameSender(as response: Response) -> Bool {
        account != nil || response.cookieVersion.map { $0 == cookieVersion } ?? true
    }
}

extension Flight {
    /// Returns the value of the `Cookie` field that the cookie jar would add to a request, or `nil` if it would add
    /// none.
    func cookies(for request: HTTPRequest) -> [UInt8]? {
        guard case .jar = configuration.settings.cookies, request.headerFields[.cookie] == nil else { return nil }
        let date = clock.date
        return context.cookieJars.withJar(of: self) { $0.field(for: request, at: date)?.octets } ?? nil
    }
}

/// The version of the cookies at the first access by a call.
private enum FirstCookieVersion: StageValueKey {
    static var defaultValue: UInt64? { nil }
}

private enum CookieVersion: StageValueKey {
    static var defaultValue: UInt64? { nil }
}

private enum SentCookies: StageValueKey {
    static var defaultValue: [UInt8]? { nil }
}

extension Response {
    /// The value of the `Cookie` field that the jar added to the request; `nil` if it added none.
    var sentCookies: [UInt8]? {
        get { values[SentCookies.self] }
        set { values[SentCookies.self] = newValue }
    }

    /// The version of the cookies that the request was sent with; `nil` if no jar was used. If the response set the
    /// first cookies, it is the version after the response.
    var cookieVersion: UInt64? {
        get { values[CookieVersion.self] }
        set { values[CookieVersion.self] = newValue }
    }
}
