import HTTPTypes
import Runway

/// What the proxy's cache did with a request, as `Cache-Status` says it (RFC 9211).
struct CacheStatus {
    /// The field. Where the origin's caches sent some as well, this one stands behind them (RFC 9211 §2).
    let field: HTTPField?

    /// - Parameters:
    ///   - response: The response, whose body need not have come.
    ///   - request: The request as the client sent it.
    ///   - record: What is known of the call when the response begins.
    init(of response: Response, to request: HTTPRequest, _ record: FlightRecord) {
        let decisions = record.decisions(of: HTTPCacheDecision.self)
        var parameters: [String]
        if record.attempts.isEmpty {
            parameters = ["hit"] + decisions.compactMap(Self.remainingSeconds).map { "ttl=\($0)" }
        } else {
            parameters = ["fwd=\(decisions.lazy.compactMap { Self.reason($0, request) }.first ?? Self.reason(request))"]
            let status = record.attempts.last?.status
            // Without the parameter, the status of the response is the one that the server responded with (RFC 9211 §2.3).
            if let status, status.code != response.head.status.code { parameters.append("fwd-status=\(status.code)") }
            if status == nil { parameters.append("detail=no-response") }
        }
        let value = (["runway"] + parameters).joined(separator: "; ")
        field = HTTPField.Name("Cache-Status").map { HTTPField(name: $0, value: value) }
    }

    /// For how long the stored response that was used stays fresh; it is negative if it is stale (RFC 9211 §2.4).
    private static func remainingSeconds(_ decision: HTTPCacheDecision) -> Int64? {
        switch decision {
        case .fresh(_, let remaining): remaining.components.seconds
        case .stale(let excess, _): -excess.components.seconds
        default: nil
        }
    }

    /// Why the request was forwarded, by what was decided of the stored responses; `nil` if the decision does not say (RFC 9211 §2.2).
    private static func reason(_ decision: HTTPCacheDecision, _ request: HTTPRequest) -> String? {
        switch decision {
        // Whether nothing is stored of the URI, or nothing for this variant of it, is not known.
        case .miss: "miss"
        case .validating(nil), .expired(nil):
            // What is not too old has to be validated because the request or the stored response says so.
            request.headerFields.contains { ["cache-control", "pragma"].contains($0.name.canonicalName) }
                ? "request" : "stale"
        case .validating, .expired: "stale"
        case .bypassed: "bypass"
        default: nil
        }
    }

    /// Why a request was forwarded for which no stored response was looked for.
    private static func reason(_ request: HTTPRequest) -> String {
        request.method == .get || request.method == .head ? "bypass" : "method"
    }
}
