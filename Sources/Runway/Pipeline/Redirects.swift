import HTTPTypes

extension RequestPipeline.Rest {
    /// Follows redirects: while `response` is a redirect, sends the next request and replaces `response`.
    ///
    /// - Throws: ``NetworkError/Kind/invalidResponse`` if a redirect is malformed or there are too many; the error of a
    ///   request that followed a redirect, see ``NetworkError/afterRedirect(to:)``.
    func follow(_ response: inout Response, to redirected: Request, in flight: Flight) async throws(NetworkError) {
        var request = redirected
        var hops: [RedirectHop] = []
        do throws(NetworkError) {
            while let following = try request.following(response, in: flight) {
                var isBodyThere = true
                // An unread stream occupies its connection, which the next hop may need. So the stream is discarded
                // now.
                if case .stream = response.body {
                    response.body = .whole(RawData([], response: response.head))
                    isBodyThere = false
                }
                let received = flight.clock.now
                hops.append(
                    RedirectHop(
                        request: request, response: response, following: following.head, isBodyThere: isBodyThere,
                        requested: response.attempt?.start ?? received, received: received))
                request = following
                response = try await send(request, in: flight)
                response.hops = hops
            }
        } catch {
            if hops.isEmpty { throw error }
            var error = error.afterRedirect(to: request.head)
            error.followsProcessedRequest = hops.hasChangedMethod
            throw error
        }
    }
}

extension Request {
    /// Returns the request that follows a redirect, and records the decision. Returns `nil` if the response is not a
    /// redirect, must not be followed, or leads to a request that was already sent.
    ///
    /// - Throws: ``NetworkError/Kind/invalidResponse`` if there are several different `Location` fields, or too many
    ///   redirects.
    fileprivate func following(_ response: Response, in flight: Flight) throws(NetworkError) -> Request? {
        guard response.verdict == .redirected, let location = try response.head.location(in: RedirectDecision.step)
        else {
            return nil
        }
        guard
            let following = redirected(
                by: response.head.status, to: location, authentication: flight.recorder.authentication)
        else {
            flight.note(RedirectDecision.notFollowed)
            return nil
        }
        if isRepeated(by: following, after: response, in: flight) {
            flight.note(RedirectDecision.alreadySent)
            return nil
        }
        guard response.hops.count < RedirectHop.maximumCount else {
            throw NetworkError(
                .invalidResponse, in: RedirectDecision.step,
                "The server redirected more than \(RedirectHop.maximumCount) times.", status: response.head.status)
        }
        flight.note(RedirectDecision.followed(status: response.head.status.code, hop: response.hops.count + 1))
        return following
    }

    /// Returns whether `following` repeats this request, or an earlier request that was redirected to this one. Cookies
    /// are compared, too. The server would only redirect `following` again, or execute the same change again.
    private func isRepeated(by following: Request, after response: Response, in flight: Flight) -> Bool {
        let earlier = response.hops.map { (request: $0.request, cookies: $0.response.sentCookies) }
        let same = (earlier + [(self, response.sentCookies)]).filter { $0.request.isSame(as: following) }
        if same.isEmpty { return false }
        let cookies = flight.cookies(for: following.head)
        return same.contains { $0.cookies == cookies }
    }

    /// Returns whether `following` has the same method, target, fields and body, apart from a cache's preconditions.
    private func isSame(as following: Request) -> Bool {
        var plain = self
        plain.removeCacheConditions()
        return plain.head.method == following.head.method && Origin(plain.head) == Origin(following.head)
            && plain.head.escapedTarget == following.head.escapedTarget
            && plain.head.headerFields == following.head.headerFields && plain.body.isSame(as: following.body)
    }

    /// Returns the request that follows a redirect, or `nil` if the redirect must not be followed.
    ///
    /// - Parameter authentication: The fields and texts that authenticate the call, in addition to fields whose names
    ///   indicate a secret.
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
        following.removeCacheConditions()
        if Origin(head) != Origin(following.head) {
            if authentication.isInBody, !following.body.isSame(as: .none) { return nil }
            following.removeAuthentication(authentication.fields)
        }
        return following
    }
}

extension HTTPResponse.Status {
    /// Whether a response with this status redirects to its `Location` (RFC 9110 §15.4).
    var isRedirect: Bool { [301, 302, 303, 307, 308].contains(code) }
}

extension HTTPResponse {
    /// Returns the target in the `Location` field (RFC 9110 §10.2.2), or `nil` if the field is absent. If there are
    /// several equal fields, they count as one.
    ///
    /// - Throws: ``NetworkError/Kind/invalidResponse`` if several fields differ. Joined by a comma, which a URI may
    ///   contain, they would form a target that the server did not name.
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
    /// Whether the field describes the content of a request. If a redirect turns the request into a GET, such fields
    /// must be removed (RFC 9110 §15.4).
    fileprivate var describesContent: Bool { canonicalName.hasPrefix("content-") || self == .transferEncoding }
}
