import HTTPTypes

/// Follows redirects (RFC 9110 §15.4), at most ten of them.
///
/// After 303, and after 301 or 302 to a POST, the next request is a GET without a body; 307 and 308 keep method and body.
/// No field that may authenticate the request is sent to another origin (RFC 9110 §15.4, RFC 6454): only fields that do not
/// identify their sender are. Nor is the body of an envelope, which contains the fields of its items. HTTPS never falls back to
/// plain HTTP, and only `http` and `https` are followed. A redirect that can't be followed is returned unchanged. Bodies pass
/// unchanged; a body that can't be sent twice ends the chain at a redirect that keeps the method.
struct RedirectingStage: RequestStage {
    var step: FlightStep { .stage(.redirecting) }
    var endsInTime: Bool { true }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        var request = request
        var hops: [RedirectHop] = []
        while true {
            do throws(NetworkError) {
                let requested = flight.clock.now
                var response = try await next.send(request, in: flight)
                response.hops = hops
                guard let following = try following(response, to: request, in: flight) else { return response }
                var isBodyThere = true
                // A stream that nobody reads occupies its connection, which the next hop may need, so it is discarded now.
                if case .stream = response.body {
                    response.body = .whole(RawData([], response: response.head))
                    isBodyThere = false
                }
                flight.note(Redirect.followed(status: response.head.status.code, hop: hops.count + 1))
                hops.append(
                    RedirectHop(
                        request: request, response: response, following: following.head, isBodyThere: isBodyThere,
                        requested: requested, received: flight.clock.now))
                request = following
            } catch {
                throw hops.isEmpty ? error : error.afterRedirect(to: request.head)
            }
        }
    }

    /// The request that follows a response; `nil` if the response is not a redirect, or one that is not followed.
    ///
    /// - Throws: ``NetworkError/Kind/invalidResponse`` for `Location` fields that differ, and for more redirects than one call follows.
    private func following(
        _ response: Response, to request: Request, in flight: Flight
    ) throws(NetworkError) -> Request? {
        guard response.verdict == .redirected, let location = try response.head.location(in: step) else { return nil }
        guard
            let following = request.redirected(
                by: response.head.status, to: location, authentication: flight.authentication)
        else {
            flight.note(Redirect.notFollowed)
            return nil
        }
        guard response.hops.count < RedirectHop.maximumCount else {
            throw NetworkError(
                .invalidResponse, in: step, "The server redirected more than \(RedirectHop.maximumCount) times.",
                status: response.head.status)
        }
        return following
    }
}

extension Request {
    /// The request that follows a redirect; `nil` if it may not be followed.
    ///
    /// - Parameter authentication: What authenticates the call apart from the fields whose names say so.
    func redirected(
        by status: HTTPResponse.Status, to location: URIReference,
        authentication: CallAuthentication = CallAuthentication()
    ) -> Request? {
        guard status.isRedirect,
            let target = try? HTTPTarget(location, from: head), target.scheme == "https" || head.scheme == "http"
        else { return nil }

        var following = self
        following.head.point(to: target)

        let becomesGet = status == .seeOther || (status.code < 303 && head.method == .post)
        if becomesGet, head.method != .head {
            following.head.method = .get
            following.body = .none
            following.head.headerFields.removeAll { $0.name.describesContent }
        } else if !body.isReplayable {
            return nil
        }
        following.dropOwnConditions()
        if Origin(head) != Origin(following.head) {
            if authentication.isInBody, !following.body.isSame(as: .none) { return nil }
            following.removeAuthentication(authentication.fields)
        }
        return following
    }
}

extension HTTPResponse.Status {
    /// Whether the status redirects to the target in `Location` (RFC 9110 §15.4).
    var isRedirect: Bool { [301, 302, 303, 307, 308].contains(code) }
}

extension HTTPResponse {
    /// The target that the `Location` field refers to (RFC 9110 §10.2.2); `nil` if there is none. Equal fields count as one.
    ///
    /// - Throws: ``NetworkError/Kind/invalidResponse`` if the fields differ. Joined with a comma, which a URI may contain, they would form a
    ///   target that the server did not name.
    func location(in step: FlightStep) throws(NetworkError) -> URIReference? {
        let fields = headerFields[fields: .location].map(\.octets)
        guard let first = fields.first else { return nil }
        guard fields.allSatisfy({ $0 == first }) else {
            throw NetworkError(
                .invalidResponse, in: step, "The response has several Location fields that differ.", status: status)
        }
        return URIReference(first)
    }
}

extension HTTPFields {
    fileprivate mutating func removeAll(where shouldRemove: (HTTPField) -> Bool) {
        self = HTTPFields(filter { !shouldRemove($0) })
    }
}

extension HTTPField.Name {
    /// Whether the field describes the request's content, which a GET does not have (RFC 9110 §15.4).
    fileprivate var describesContent: Bool { canonicalName.hasPrefix("content-") || self == .transferEncoding }
}
