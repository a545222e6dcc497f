import HTTPTypes
import Synchronization

/// Sends and stores cookies for services that use them (``CookiePolicy``).
///
/// It is below redirecting, so that every hop gets its own, and above signing, which may cover them. A cache above it does not
/// see which cookies it sends: a response that varies by `Cookie` is not stored under the rules of HTTP (RFC 9111 §4.1). Without
/// an account, cached responses and shared reads are separated by the state of the jar (``Flight/cookieVersion``), and a response
/// is not stored if the jar changed between the cache lookup and the request. Cookies inside merged responses are ignored. Bodies
/// pass unchanged.
struct CookieStage: RequestStage {
    private let jars: CookieJars

    init(_ jars: CookieJars) { self.jars = jars }

    var step: FlightStep { .cookies }
    var endsInTime: Bool { true }

    func handles(_ request: Request, in flight: Flight) -> Bool {
        if case .jar = flight.configuration.settings.cookies { true } else { false }
    }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        guard case .jar(let domains) = flight.configuration.settings.cookies else {
            return try await next.send(request, in: flight)
        }
        var request = request
        var version: UInt64?
        if request.head.headerFields[.cookie] == nil {
            let (head, date) = (request.head, flight.clock.date)
            let jar = jars.withJar(of: flight) { jar in (field: jar.field(for: head, at: date), version: jar.version) }
            version = jar?.version
            if let field = jar?.field {
                // Assigned by its name, it would be split, which HTTP/1.1 does not allow (RFC 6265bis §5.8.1).
                request.head.headerFields.append(HTTPField(name: .cookie, value: field.octets))
                flight.note(CookieDecision.sent(field.count))
            }
        }
        var response = try await next.send(request, in: flight)
        if let version { response.cookieVersion = version }
        let fields = response.head.headerFields[fields: .setCookie].map(\.octets)
        if !fields.isEmpty {
            let (head, date) = (request.head, flight.clock.date)
            let (stored, later) =
                jars.withJar(of: flight) { jar in
                    (fields.count { jar.store($0, from: head, sharing: domains, at: date) }, jar.version)
                } ?? (0, 0)
            // A response that sets the first cookie starts a session: it must not be cached for other senders without cookies.
            if version == 0 { response.cookieVersion = later }
            if stored > 0 { flight.note(CookieDecision.stored(stored)) }
            if stored < fields.count { flight.note(CookieDecision.ignored(fields.count - stored)) }
        }
        return response
    }
}

extension Flight {
    /// The version of the cookies that identify the sender, if no account does; 0 if an account is signed in, no jar is in use,
    /// or the jar is empty.
    ///
    /// It is the same during all of the call, so that a response which changes the cookies is stored for the sender of its request.
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

    /// Whether the response belongs to the sender that the cache lookup assumed: always with an account or without a jar, otherwise
    /// if the request had the same cookies and the response did not set the first ones.
    func hasSameSender(as response: Response) -> Bool {
        account != nil || response.cookieVersion.map { $0 == cookieVersion } ?? true
    }
}

extension Request {
    /// Whether a jar may add cookies to this request further down, which no stage above ``CookieStage`` sees.
    func mayGetCookies(in flight: Flight) -> Bool {
        if case .jar = flight.configuration.settings.cookies { head.headerFields[.cookie] == nil } else { false }
    }
}

/// The version of the cookies when a call first asked for it.
private enum FirstCookieVersion: StageValueKey {
    static var defaultValue: UInt64? { nil }
}

/// The version of the cookies of a request.
private enum CookieVersion: StageValueKey {
    static var defaultValue: UInt64? { nil }
}

extension Response {
    /// The version of the cookies that the request was sent with, or that the response made if it set the first ones; `nil` if no
    /// jar was used.
    var cookieVersion: UInt64? {
        get { values[CookieVersion.self] }
        set { values[CookieVersion.self] = newValue }
    }
}
