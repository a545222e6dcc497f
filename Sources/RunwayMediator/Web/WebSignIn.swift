/// Opens pages of the web site with the session of the app, so that its user signs in once.
///
/// ```swift
/// let signIn = WebSignIn(at: "https://m.example.com") {
///     try await network.call(WebSignInCode())
/// } end: {
///     try await network.call(WebSignOut())
/// }
///
/// let form = try await signIn.form(for: address)
/// var request = URLRequest(url: url)
/// request.httpMethod = "POST"
/// request.httpBody = Data(form.body.utf8)
/// request.setValue(WebSignIn.Form.contentType, forHTTPHeaderField: "Content-Type")
/// webView.load(request)
/// ```
///
/// The site exchanges the code for a cookie, and redirects to the page. `WebSignIn` of `RunwayServer` implements this
/// on the server. A code is valid once, for 60 seconds. Load the first page with a form, and later pages by their
/// addresses. ``signOut(_:)`` ends the sessions of the app and of the site.
public struct WebSignIn: Sendable {
    /// The request with which a web view opens a page.
    public struct Form: Hashable, Sendable {
        /// The media type of the body.
        public static let contentType = "application/x-www-form-urlencoded"
        /// The address to which the form is posted.
        public let url: String
        /// The body, in ASCII. It contains the code: don't log it.
        public let body: String
    }

    private let origin: String
    private let path: String
    private let code: @Sendable () async throws -> String
    private let end: @Sendable () async throws -> Void

    /// Prepares to open pages of one web site.
    ///
    /// - Parameters:
    ///   - origin: `https://` and the host of the site, with its port if that is not 443.
    ///   - path: The path at which the site takes codes.
    ///   - code: Requests a code from the server, with the session of the app.
    ///   - end: Ends the web sessions below the session of the app: it posts to `web-sign-in/sign-out` of the server,
    ///     with the session of the app.
    public init(
        at origin: String, path: String = "/web-sign-in", code: @escaping @Sendable () async throws -> String,
        end: @escaping @Sendable () async throws -> Void
    ) {
        (self.origin, self.path, self.code, self.end) = (origin, path, code, end)
    }

    /// Requests a code, and returns the form that opens a page with it.
    ///
    /// - Parameter address: The address of a page of the site.
    /// - Throws: ``MediatorError/Kind/foreign`` if the address is not of the site: no code is requested then. The
    ///   errors of the request.
    public func form(for address: String) async throws -> Form {
        guard address.hasPrefix(origin), address.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw MediatorError(.foreign, "the address is not of the site that signs in")
        }
        var target = address.dropFirst(origin.count)
        // The end of the host: "https://m.example.com.evil.example" has the same beginning.
        guard target.isEmpty || target.hasPrefix("/") || target.hasPrefix("?") else {
            throw MediatorError(.foreign, "the address is not of the site that signs in")
        }
        if !target.hasPrefix("/") { target = "/" + target }
        var body = Array("code=".utf8)
        Percent.encode(try await code(), to: &body)
        body += "&to=".utf8
        Percent.encode(String(target), to: &body)
        return Form(url: origin + path, body: String(decoding: body, as: UTF8.self))
    }

    /// Ends the web sessions below the session of the app, and then signs the app out.
    ///
    /// ```swift
    /// try await signIn.signOut { try await network.signOut(of: Shop.self) }
    /// ```
    ///
    /// The request to the server comes first, since it needs the credentials of the app. The app signs out also if that
    /// request fails, for example without a network: the cookies of the site then stay valid until the server ends
    /// them, and no longer exist on this device.
    ///
    /// - Parameter removeCredentials: Removes the credentials of the app, and the data of its web views.
    /// - Returns: Whether the server has ended the web sessions.
    /// - Throws: The errors of `removeCredentials`.
    @discardableResult
    public func signOut<Failure: Error>(
        _ removeCredentials: () async throws(Failure) -> Void
    ) async throws(Failure) -> Bool {
        let hasEnded = (try? await end()) != nil
        try await removeCredentials()
        return hasEnded
    }
}
