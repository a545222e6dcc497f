import HTTPTypes
import NIOHTTP1
import Runway
import RunwayTransport

/// A response that the proxy itself sends to a request.
struct Refusal: Error, Sendable {
    let status: HTTPResponse.Status
    /// The kind of the error, in one word.
    let kind: String
    /// One sentence.
    let message: String
    /// The type of the error by RFC 9209 §2.3.
    let proxyError: String
    /// The time after which the client may retry; set only for status 503.
    private let retryAfter: Duration?

    init(_ status: HTTPResponse.Status, _ message: String) {
        self.status = status
        kind = "refused"
        self.message = message
        retryAfter = nil
        proxyError =
            switch status.code {
            case 403, 421: "http_request_denied"
            case 502: "http_protocol_error"
            case 508: "proxy_loop_detected"
            case 400..<500: "http_request_error"
            default: "proxy_internal_response"
            }
    }

    init(_ error: NetworkError) {
        status =
            switch error.kind {
            case _ where error.underlying is ClientSilence: .requestTimeout
            case _ where error.underlying is ForbiddenTarget: .forbidden
            case .timedOut: .gatewayTimeout
            // RFC 9111 §5.2.1.7.
            case .notCached: .gatewayTimeout
            case .overloaded, .unavailable: .serviceUnavailable
            // The host could not be reached a moment ago, and nothing was sent.
            case .noNetwork where error.retryAfter != nil: .serviceUnavailable
            // The body of the request broke off.
            case .invalidParameters: .badRequest
            default: .badGateway
            }
        kind = "\(error.kind)"
        message = error.description
        proxyError = error.proxyError
        // If the time is unknown, a client that retries at once would only be refused again.
        let known = error.retryAfter ?? .seconds(1)
        retryAfter = status == .serviceUnavailable ? known : nil
    }

    /// The response to a request for a tunnel that could not be opened.
    init(tunnelling error: any Error) {
        let isForbidden = error is ForbiddenTarget
        let isLate = error is TunnelTimeout
        status = isForbidden ? .forbidden : isLate ? .gatewayTimeout : .badGateway
        kind = isForbidden ? "refused" : isLate ? "timedOut" : "noNetwork"
        message =
            (error as? LookupError)?.message ?? (error as? any DescribedError)?.description
            ?? "The host can't be connected to: \(error.redactedDescription)."
        proxyError =
            isForbidden
            ? "http_request_denied"
            : isLate ? "connection_timeout" : error is LookupError ? "dns_error" : "destination_unavailable"
        retryAfter = nil
    }

    /// The problem with bytes that are not a valid request.
    ///
    /// - Parameter unknownMethod: The method, if only that is invalid.
    init(_ error: HTTPParserError, unknownMethod: String?) {
        switch error {
        case .headerOverflow:
            self.init(
                .requestHeaderFieldsTooLarge,
                """
                The head of the request is too large: a field may have \(ProxyChannel.maximumFieldByteCount) bytes, all \
                together \(ProxyChannel.maximumHeadByteCount), and there may be \(ProxyChannel.maximumFieldCount).
                """)
        case .invalidVersion:
            self.init(
                .init(code: 505, reasonPhrase: "HTTP Version Not Supported"),
                "This proxy speaks HTTP/1.1 with clients.")
        case .invalidMethod:
            guard let unknownMethod else { fallthrough }
            self.init(.notImplemented, "This proxy does not support the method \"\(unknownMethod)\".")
        default:
            self.init(.badRequest, "This is not an HTTP/1.1 request: \(error.reason).")
        }
    }

    /// The fields of the error response. `Proxy-Status` states that it is not the origin's (RFC 9209).
    var headerFields: HTTPFields {
        var fields: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        if let name = HTTPField.Name("Proxy-Status") { fields[name] = "runway; error=\(proxyError)" }
        // Whole seconds, and never too few (RFC 9110 §10.2.3).
        fields[.retryAfter] = retryAfter.map { "\(max(1, ($0 + .nanoseconds(999_999_999)).components.seconds))" }
        return fields
    }

    /// The whole message as HTTP/1.1, after which the connection ends.
    var bytes: [UInt8] {
        var fields = headerFields
        fields[.contentLength] = "\(json.count)"
        fields[.connection] = "close"
        let lines =
            ["HTTP/1.1 \(status.code) \(status.reasonPhrase)"] + fields.map { "\($0.name.rawName): \($0.value)" }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + json
    }

    /// The error as a JSON object.
    var json: [UInt8] {
        let object: Parameters = ["error": ["kind": .string(kind), "message": .string(message)]]
        return ((try? object.json(dates: .iso8601)) ?? []) + [UInt8(ascii: "\n")]
    }
}

extension NetworkError {
    /// The type of the error by RFC 9209 §2.3, if there is one.
    fileprivate var proxyError: String {
        switch kind {
        case _ where underlying is ClientSilence: "http_request_error"
        case _ where underlying is ForbiddenTarget: "http_request_denied"
        case _ where underlying is LookupError: "dns_error"
        case .notCached: "proxy_internal_response"
        case .timedOut where step == .admission: "connection_limit_reached"
        case .timedOut: sending == .notSent ? "connection_timeout" : "http_response_timeout"
        case .noNetwork: sending == .notSent ? "destination_unavailable" : "connection_terminated"
        case .notTrusted: "tls_certificate_error"
        case .invalidResponse: "http_protocol_error"
        case .invalidParameters: "http_request_error"
        case .invalidConfiguration: "proxy_configuration_error"
        case .overloaded:
            if case .flood? = underlying as? AdmissionRefusal {
                "http_request_denied"
            } else {
                "connection_limit_reached"
            }
        case .unavailable: "destination_unavailable"
        default: "proxy_internal_error"
        }
    }
}
