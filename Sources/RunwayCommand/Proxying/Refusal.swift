import HTTPTypes
import NIOHTTP1
import Runway
import RunwayTransport

/// A response that the proxy creates itself.
struct Refusal: Error, Sendable {
    let status: HTTPResponse.Status
    /// The kind of the error, one word.
    let kind: String
    /// The explanation for the user, one sentence.
    let message: String
    /// The error type (RFC 9209 §2.3).
    let proxyError: String
    /// The time after which the client may retry; `nil` unless the status is 503.
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
            // RFC 9111 §5.2.1.7 requires this status.
            case .notCached: .gatewayTimeout
            case .overloaded, .unavailable: .serviceUnavailable
            // The host was unreachable a moment ago, so nothing was sent.
            case .noNetwork where error.retryAfter != nil: .serviceUnavailable
            // The client did not send the whole body.
            case .invalidParameters: .badRequest
            default: .badGateway
            }
        kind = "\(error.kind)"
        message = error.description
        proxyError = error.proxyError
        // If the time is unknown, the response asks for one second, since an immediate retry would be refused again.
        let known = error.retryAfter ?? .seconds(1)
        retryAfter = status == .serviceUnavailable ? known : nil
    }

    /// The response to a CONNECT request whose tunnel could not be opened.
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

    /// The response to bytes that are not a valid request.
    ///
    /// - Parameter unknownMethod: The method, if the parser does not know it and nothing else is invalid.
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

    /// The fields of the error response. `Proxy-Status` states that the response is not from the origin (RFC 9209).
    var headerFields: HTTPFields {
        var fields: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        if let name = HTTPField.Name("Proxy-Status") { fields[name] = "runway; error=\(proxyError)" }
        // The time is rounded up to whole seconds (RFC 9110 §10.2.3).
        fields[.retryAfter] = retryAfter.map { "\(max(1, ($0 + .nanoseconds(999_999_999)).components.seconds))" }
        return fields
    }

    /// The whole HTTP/1.1 message. The connection ends after it.
    var bytes: [UInt8] {
        var fields = headerFields
        fields[.contentLength] = "\(json.count)"
        fields[.connection] = "close"
        let lines =
            ["HTTP/1.1 \(status.code) \(status.reasonPhrase)"] + fields.map { "\($0.name.rawName): \($0.value)" }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + json
    }

    var json: [UInt8] {
        let object: Parameters = ["error": ["kind": .string(kind), "message": .string(message)]]
        return ((try? object.json(dates: .iso8601)) ?? []) + [UInt8(ascii: "\n")]
    }
}

extension NetworkError {
    /// The error type (RFC 9209 §2.3); a general one if no specific type fits.
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
