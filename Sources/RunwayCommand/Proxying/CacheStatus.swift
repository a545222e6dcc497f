import HTTPTypes
import Runway

/// Describes how the proxy's cache handled a request, as a `Cache-Status` field (RFC 9211).
struct CacheStatus {
    /// The field. It follows the `Cache-Status` fields of caches that are closer to the origin (RFC 9211 §2).
    let field: HTTPField?

    /// - Parameters:
    ///   - response: The response. Its body may still be incomplete.
    ///   - request: The request as the client sent it.
    ///   - record: The record of the call at the start of the response.
    init(of response: Response, to request: HTTPRequest, _ record: FlightRecord) {
        let decisions = record.decisions(of: HTTPCacheDecision.self)
        var parameters: [String]
        if record.attempts.isEmpty {
            parameters = ["hit"] + decisions.compactMap(Self.remainingSeconds).map { "ttl=\($0)" }
        } else {
            parameters = ["fwd=\(decisions.lazy.compactMap { Self.reason($0, request) }.first ?? Self.reason(request))"]
            let status = record.attempts.last?.status
            // Without `fwd-status`, the status of the response counts as the origin's (RFC 9211 §2.3).
            if let status, status.code != response.head.status.code { parameters.append("fwd-status=\(status.code)") }
            if status == nil { parameters.append("detail=no-response") }
        }
        let value = (["runway"] + parameters).joined(separator: "; ")
        field = HTTPField.Name("Cache-Status").map { HTTPField(name: $0, value: value) }
    }

    /// Returns the remaining freshness lifetime in seconds; negative if the response is stale (RFC 9211 §2.4).
    private static func remainingSeconds(_ decision: HTTPCacheDecision) -> Int64? {
        switch decision {
        case .fresh(_, let remaining): remaining.components.seconds
        case .stale(let excess, _): -excess.components.seconds
        default: nil
        }
    }

    /// Returns why the request was forwarded although the cache was searched (RFC 9211 §2.2); `nil` if the decision
    /// states no reason.
    private static func reason(_ decision: HTTPCacheDecision, _ request: HTTPRequest) -> String? {
        switch decision {
        // The decision does not show whether no response is stored for the URI, or only none for this variant.
        case .miss: "miss"
        case .validating(nil), .expired(nil):
            // A fresh response is validated only because the request or the stored response requires it.
            request.headerFields.contains { ["cache-control", "pragma"].contains($0.name.canonicalName) }
                ? "request" : "stale"
        case .validating, .expired: "stale"
        case .bypassed: "bypass"
        default: nil
        }
    }

    /// Returns why a request was forwarded without a search for a stored response.
    private static func reason(_ request: HTTPRequest) -> String {
        request.method == .get || request.method == .head ? "bypass" : "method"
    }
}
