import HTTPTypes
import Runway

/// The treatment of a request by the proxy's cache, as the field `Cache-Status` (RFC 9211).
struct CacheStatus {
    /// The field. If the origin's caches sent some as well, this one follows them (RFC 9211 §2).
    let field: HTTPField?

    /// - Parameters:
    ///   - response: The response; its body may still be incomplete.
    ///   - request: The request as the client sent it.
    ///   - record: The record of the call when the response begins.
    init(of response: Response, to request: HTTPRequest, _ record: FlightRecord) {
        let decisions = record.decisions(of: HTTPCacheDecision.self)
        var parameters: [String]
        if record.attempts.isEmpty {
            parameters = ["hit"] + decisions.compactMap(Self.remainingSeconds).map { "ttl=\($0)" }
        } else {
            parameters = ["fwd=\(decisions.lazy.compactMap { Self.reason($0, request) }.first ?? Self.reason(request))"]
            let status = record.attempts.last?.status
            // Without the parameter, the status of the response is the server's (RFC 9211 §2.3).
            if let status, status.code != response.head.status.code { parameters.append("fwd-status=\(status.code)") }
            if status == nil { parameters.append("detail=no-response") }
        }
        let value = (["runway"] + parameters).joined(separator: "; ")
        field = HTTPField.Name("Cache-Status").map { HTTPField(name: $0, value: value) }
    }

    /// Returns the remaining freshness lifetime of the stored response that was used; negative if it is stale (RFC 9211
    /// §2.4).
    private static func remainingSeconds(_ decision: HTTPCacheDecision) -> Int64? {
        switch decision {
        case .fresh(_, let remaining): remaining.components.seconds
        case .stale(let excess, _): -excess.components.seconds
        default: nil
        }
    }

    /// Returns the reason why the request was forwarded, from the decision about the stored responses; `nil` if the
    /// decision has no such reason (RFC 9211 §2.2).
    private static func reason(_ decision: HTTPCacheDecision, _ request: HTTPRequest) -> String? {
        switch decision {
        // It is not known whether nothing is stored of the URI, or only of this variant.
        case .miss: "miss"
        case .validating(nil), .expired(nil):
            // A response that is not too old has to be validated because the request or the stored response requires it.
            request.headerFields.contains { ["cache-control", "pragma"].contains($0.name.canonicalName) }
                ? "request" : "stale"
        case .validating, .expired: "stale"
        case .bypassed: "bypass"
        default: nil
        }
    }

    /// Returns the reason why a request was forwarded without looking for a stored response.
    private static func reason(_ request: HTTPRequest) -> String {
        request.method == .get || request.method == .head ? "bypass" : "method"
    }
}
