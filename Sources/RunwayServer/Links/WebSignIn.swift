import Foundation
import HTTPTypes
public import Hummingbird
import NIOCore
import RunwayFormats
public import RunwaySignatures

/// Starts web sessions for the session of an app, so that the user signs in only once.
///
/// ```swift
/// let signIn = WebSignIn(origin: "https://m.example.com", codes: ServerNonces(key: key))
/// signIn.addCodes(to: api) { request, _ in session(request) }
/// signIn.addSignIn(to: site) { session, _ in try await webSessions.begin(below: session) }
/// ```
///
/// - `POST web-sign-in/codes`, by the app: returns `{"code":…,"expires":…}` for the session of the app.
/// - `POST web-sign-in/sign-out`, by the app: ends the web sessions below its own; see ``WebSessionMemory``.
/// - `POST web-sign-in`, by the web view, a form with `code` and `to`: sets a cookie, and redirects to the path `to`
///   (303).
///
/// A code is valid for 60 seconds, once, and at one origin. It is in a body, and so in no log of addresses and in no
/// `Referer`. Requests from other sites are refused (403), because
/// they could sign a visitor in to the account of somebody else.
///
/// If the code is not valid, or the session has ended, the web view is redirected without a cookie: the page then asks
/// its user to sign in. After sign-out, codes that are not used yet set no cookie.
public struct WebSignIn: Sendable {
    /// The time for which a code is valid.
    public static let codeLifetime = Duration.seconds(60)
    /// The maximum length of a session's identifier, in bytes. A longer identifier is a programming error.
    public static let maximumSessionByteCount = 128
    private static let maximumFormByteCount = 8192

    private let origin: String
    private let codes: ServerNonces
    private let claims: any NonceStore
    private let now: @Sendable () -> UnixTime

    /// Creates the server half for one web site.
    ///
    /// - Parameters:
    ///   - origin: The origin of the web site, such as `https://m.example.com`. A code is valid only there.
    ///   - codes: Issues codes. All servers of the site must share its key. The default has a random key, for one
    ///     server.
    ///   - claims: Records used codes. The default is a `NonceMemory` for one server, with at most 100,000 codes and
    ///     100 per session.
    ///   - now: Returns the time. The default is the system's clock.
    public init(
        origin: String, codes: ServerNonces = ServerNonces(), claims: (any NonceStore)? = nil,
        now: (@Sendable () -> UnixTime)? = nil
    ) {
        let now = now ?? { UnixTime(seconds: Int64(Date().timeIntervalSince1970)) }
        self.origin = origin
        self.codes = codes
        self.claims = claims ?? NonceMemory(startedAt: now(), maximumNonces: 100_000, maximumNoncesPerKey: 100)
        self.now = now
    }

    /// Adds the route that issues codes to the router of the app's requests.
    ///
    /// - Parameters:
    ///   - router: The router or group, behind the middleware that authenticates the app.
    ///   - path: The path below the group's. The default is `web-sign-in/codes`.
    ///   - session: Returns the identifier of the session that sends a request, or `nil` if nobody is signed in. The
    ///     code contains the identifier in plain form, so the identifier must not be a secret.
    public func addCodes<Context: RequestContext>(
        to router: some RouterMethods<Context>, path: RouterPath = "web-sign-in/codes",
        session: @escaping @Sendable (Request, Context) async throws -> String?
    ) {
        router.post(path) { request, context in
            guard let session = try await session(request, context) else { throw HTTPError(.unauthorized) }
            let time = now()
            let expiry = (time + Self.codeLifetime).seconds
            let content = #"{"code":"\#(code(for: session, at: time))","expires":\#(expiry)}"#
            return Response(
                status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: content)))
        }
    }

    /// Adds the route that takes codes to the router of the web site.
    ///
    /// - Parameters:
    ///   - router: The router of the site.
    ///   - path: The path below the group's. The default is `web-sign-in`.
    ///   - cookieName: The name of the cookie. With the prefix `__Host-` no other host can set it.
    ///   - begin: Begins a web session below a session of the app, and returns the value of its cookie; `nil` if the
    ///     session of the app has ended.
    public func addSignIn<Context: RequestContext>(
        to router: some RouterMethods<Context>, path: RouterPath = "web-sign-in", cookieName: String = "__Host-session",
        begin: @escaping @Sendable (_ session: String, Context) async throws -> String?
    ) {
        router.post(path) { request, context in
            // Browsers send the field with every request that another page makes (W3C Fetch Metadata). Older ones send at
            // least Origin with a form (Fetch §3.2).
            let site =
                request.headers[HTTPField.Name("Sec-Fetch-Site", known: ())]
                ?? (request.headers[.origin] == nil ? "none" : "cross-site")
            guard site == "none" || site == "same-origin" else { throw HTTPError(.forbidden) }
            let body = try await request.body.collect(upTo: Self.maximumFormByteCount)
            let form = try Self.form(String(buffer: body))
            var headers: HTTPFields = [.location: form.path, .cacheControl: "no-store"]
            if let session = try await claim(form.code), let value = try await begin(session, context) {
                guard value.utf8.allSatisfy(Self.isCookieByte) else { throw HTTPError(.internalServerError) }
                headers[.setCookie] = "\(cookieName)=\(value); Path=/; Secure; HttpOnly; SameSite=Lax"
            }
            return Response(status: .seeOther, headers: headers)
        }
    }

    /// Adds a route to the router of the app's requests. With it, the app ends the web sessions that were opened from
    /// its own session.
    ///
    /// The app calls it at sign-out, while it still has its credentials. The response is 204.
    ///
    /// - Parameters:
    ///   - router: The router or group, behind the middleware that authenticates the app.
    ///   - path: The path below the group's. The default is `web-sign-in/sign-out`.
    ///   - session: Returns the identifier of the session that sends a request, or `nil` if nobody is signed in.
    ///   - end: Ends the web sessions below a session of the app, such as ``WebSessionMemory/end(below:)``.
    public func addSignOut<Context: RequestContext>(
        from router: some RouterMethods<Context>, path: RouterPath = "web-sign-in/sign-out",
        session: @escaping @Sendable (Request, Context) async throws -> String?,
        end: @escaping @Sendable (_ session: String, Context) async throws -> Void
    ) {
        router.post(path) { request, context in
            guard let session = try await session(request, context) else { throw HTTPError(.unauthorized) }
            try await end(session, context)
            return Response(status: .noContent, headers: [.cacheControl: "no-store"])
        }
    }

    /// Returns a code for a session: a nonce of the server, a dot and the session in base64url.
    func code(for session: String, at time: UnixTime) -> String {
        precondition(session.utf8.count <= Self.maximumSessionByteCount, "the identifier of a session is too long")
        let text = Data(session.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        return "\(codes.issue(at: time, for: purpose(session))).\(text)"
    }

    /// Returns the session of a code, and makes the code invalid; `nil` if it is not valid.
    func claim(_ code: String) async throws -> String? {
        let time = now()
        guard let dot = code.lastIndex(of: ".") else { return nil }
        let text = code[code.index(after: dot)...].replacing("-", with: "+").replacing("_", with: "/")
        guard let bytes = Data(base64Encoded: String(text)), bytes.count <= Self.maximumSessionByteCount,
            let session = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let nonce = String(code[..<dot])
        // Compares the code in constant time.
        guard let issued = codes.time(of: nonce, for: purpose(session)), issued <= time,
            time < issued + Self.codeLifetime
        else { return nil }
        let use = Nonce(value: nonce, keyID: session, created: issued, expires: issued + Self.codeLifetime)
        return try await claims.claim(use, at: time) == .claimed ? session : nil
    }

    private func purpose(_ session: String) -> String { "web sign-in\n\(origin)\n\(session)" }

    /// Reads a form of the web view.
    private static func form(_ text: String) throws(HTTPError) -> (code: String, path: String) {
        var values: [Substring: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let value = parts[1].removingPercentEncoding,
                values.updateValue(value, forKey: parts[0]) == nil
            else { throw HTTPError(.badRequest) }
        }
        guard let code = values["code"], let path = values["to"], isPath(path) else { throw HTTPError(.badRequest) }
        return (code, path)
    }

    /// Whether a text is a path of the same site for every browser: two slashes, or a backslash, would name a host.
    private static func isPath(_ text: String) -> Bool {
        text.hasPrefix("/") && !text.hasPrefix("//") && text.utf8.count <= 4096
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }
    }

    /// Whether a byte may be in the value of a cookie (RFC 6265 §4.1.1).
    private static func isCookieByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && !"\",;\\".utf8.contains(byte)
    }
}
