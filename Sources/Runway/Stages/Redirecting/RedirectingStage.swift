import Foundation
import HTTPTypes

/// Follows redirects (RFC 9110 §15.4), at most ten of them.
///
/// After 303, and after 301 or 302 to a POST, the next request is a GET without a body; 307 and 308 keep method and body.
/// Credentials, and every other field that the layer's ``Redaction`` calls secret, are not carried to another origin (RFC 9110 §15.4,
/// RFC 6454), HTTPS never falls back to plain HTTP, and only
/// `http` and `https` are followed. What can't be followed is given to the caller as it came. Bodies pass untouched; a body that
/// can't be sent twice ends the chain at a redirect that keeps it.
struct RedirectingStage: RequestStage {
    /// The most hops that one call follows.
    static let maximumRedirects = 10

    var step: FlightStep { .stage(.redirecting) }
    var endsInTime: Bool { true }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        var request = request
        var count = 0
        var hops: [RedirectHop] = []
        while true {
            let requested = flight.clock.now
            var response: Response
            do throws(NetworkError) {
                response = try await next.send(request, in: flight)
            } catch {
                throw hops.isEmpty ? error : error.afterRedirect(to: request.head)
            }
            response.hops = hops
            var isBodyThere = true
            guard response.verdict == .redirected, let location = response.head.headerFields[.location] else {
                return response
            }
            let secrets = flight.layer.redaction.headerFields.union(flight.secretFields)
            guard
                let following = request.redirected(
                    by: response.head.status, to: location, keepingFromOthers: secrets)
            else {
                flight.note(Redirect.notFollowed)
                return response
            }
            guard count < Self.maximumRedirects else {
                throw NetworkError(
                    .invalidAnswer, in: step, "The server redirected more than \(Self.maximumRedirects) times.",
                    status: response.head.status)
            }
            count += 1
            // A stream that nobody reads keeps its connection, which the next hop may need: it goes now.
            if case .stream = response.body {
                response.body = .whole(RawData([], response: response.head))
                isBodyThere = false
            }
            flight.note(Redirect.followed(status: response.head.status.code, hop: count))
            hops.append(
                RedirectHop(
                    request: request, response: response, following: following.head, isBodyThere: isBodyThere,
                    requested: requested, received: flight.clock.now))
            request = following
        }
    }
}

extension Request {
    /// The request that follows a redirect; `nil` where it may not be followed.
    ///
    /// - Parameter secretFields: What goes to no other origin, beside what is a credential by its name.
    func redirected(
        by status: HTTPResponse.Status, to location: String, keepingFromOthers secretFields: Set<HTTPField.Name> = []
    ) -> Request? {
        guard [301, 302, 303, 307, 308].contains(status.code),
            let target = URL(string: location, relativeTo: URL(string: url))?.absoluteURL,
            let scheme = target.scheme?.lowercased(), scheme == "https" || (scheme == "http" && head.scheme == "http"),
            let components = URLComponents(url: target, resolvingAgainstBaseURL: true),
            let host = components.encodedHost, !host.isEmpty, components.user == nil, components.password == nil,
            components.hasUsablePort
        else { return nil }

        var following = self
        let authority = components.port.map { "\(host):\($0)" } ?? host
        following.head.scheme = scheme
        following.head.authority = authority
        let path = components.percentEncodedPath
        following.head.path = (path.isEmpty ? "/" : path) + (components.percentEncodedQuery.map { "?\($0)" } ?? "")

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
            following.head.headerFields.removeAll { $0.name.isForOneOrigin || secretFields.contains($0.name) }
        }
        return following
    }
}

extension HTTPFields {
    fileprivate mutating func removeAll(where shouldRemove: (HTTPField) -> Bool) {
        self = HTTPFields(filter { !shouldRemove($0) })
    }
}

extension HTTPField.Name {
    /// Whether the field speaks of the request's content, which a GET has not (RFC 9110 §15.4).
    fileprivate var describesContent: Bool { canonicalName.hasPrefix("content-") || self == .transferEncoding }

    /// Whether the field proves to one origin who sends it, or names that origin.
    fileprivate var isForOneOrigin: Bool {
        Redaction.secretHeaderFields.contains(self) || canonicalName == "host" || canonicalName.hasPrefix("runway-")
            || canonicalName.hasPrefix("signature")
    }
}

/// Where a redirect led, for the record.
public enum Redirect: FlightDecision, Equatable {
    /// The redirect was followed.
    ///
    /// - Parameters:
    ///   - status: The status of the answer that redirected.
    ///   - hop: How many redirects the call followed by then.
    case followed(status: Int, hop: Int)
    /// The answer points where this request may not go, or its body can't be sent again.
    case notFollowed

    /// The stage.
    public static var step: FlightStep { .stage(.redirecting) }

    /// What the stage decided, as a log shows it.
    public var description: String {
        switch self {
        case .followed(let status, let hop): "following \(status), hop \(hop)"
        case .notFollowed: "not followed: the target is not allowed, or the body can't be sent again"
        }
    }
}
