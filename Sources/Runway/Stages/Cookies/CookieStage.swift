import HTTPTypes

/// Sends and stores cookies for services that use them (``CookiePolicy``).
///
/// The stage comes after redirecting, so that every hop has its own cookies, and before signing, so that the signature
/// can cover them. Bodies pass unchanged, and cookies inside merged responses are ignored.
///
/// The cache comes earlier and does not see the cookies. Therefore:
/// - A response that varies by `Cookie` is not stored under the rules of HTTP (RFC 9111 §4.1).
/// - Without an account, the state of the jar separates cached responses and shared reads (``Flight/cookieVersion``). A
///   response is then not stored if the jar changed between the cache lookup and the request.
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
        guard case .jar(let declared) = flight.configuration.settings.cookies else {
            return try await next.send(request, in: flight)
        }
        let domains = CookieDomains(declared: declared, suffixes: jars.suffixes)
        var request = request
        var version: UInt64?
        var sent: [UInt8]?
        if request.head.headerFields[.cookie] == nil {
            let (head, date) = (request.head, flight.clock.date)
            let jar = jars.withJar(of: flight) { jar in (field: jar.field(for: head, at: date), version: jar.version) }
            version = jar?.version
            if let field = jar?.field {
                // Setting the field by its name would split it into several fields, which HTTP/1.1 does not allow (RFC
                // 6265bis §5.8.1).
                request.head.headerFields.append(HTTPField(name: .cookie, value: field.octets))
                sent = field.octets
                flight.note(CookieDecision.sent(field.count))
            }
        }
        var response = try await next.send(request, in: flight)
        if let version { response.cookieVersion = version }
        response.sentCookies = sent
        let fields = response.head.headerFields[fields: .setCookie].map(\.octets)
        if !fields.isEmpty {
            let (head, date) = (request.head, flight.clock.date)
            let (stored, later) =
                jars.withJar(of: flight) { jar in
                    (fields.count { jar.store($0, from: head, sharing: domains, at: date) }, jar.version)
                } ?? (0, 0)
            // A response that sets the first cookie starts a session. The response must not be cached for other senders
            // without cookies.
            if version == 0 { response.cookieVersion = later }
            if stored > 0 { flight.note(CookieDecision.stored(stored)) }
            if stored < fields.count { flight.note(CookieDecision.ignored(fields.count - stored)) }
        }
        return response
    }
}

/// A decision that counts cookies: the cookies sent with a request, and the cookies of its response that were stored or
/// ignored. Neither names nor values are recorded.
package enum CookieDecision: StageDecision, Equatable {
    case sent(Int)
    /// The number of cookies in the response that were stored or that removed a stored cookie.
    case stored(Int)
    /// The number of cookies in the response that RFC 6265bis requires the client to ignore.
    case ignored(Int)

    package static var step: FlightStep { .cookies }

    package var entry: DecisionRecord {
        switch self {
        case .sent(let count): .init("sent", ["count": count], "sent \(count)")
        case .stored(let count): .init("stored", ["count": count], "stored \(count)")
        case .ignored(let count): .init("ignored", ["count": count], "ignored \(count)")
        }
    }
}
