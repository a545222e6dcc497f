import NIOSSL

/// The reasons for a TLS failure, by BoringSSL's names.
///
/// NIOSSL has them only in the descriptions of its errors, together with lines of BoringSSL's source.
struct TLSFailure {
    /// The reasons, such as `CERTIFICATE_VERIFY_FAILED`. The last one is the most specific.
    private let reasons: [String]

    /// Reads the reasons that BoringSSL reported. Returns `nil` if the error contains none.
    init?(_ error: any Error) {
        let cause: any Error =
            switch error {
            case NIOSSLError.handshakeFailed(let cause), NIOSSLError.shutdownFailed(let cause): cause
            default: error
            }
        switch cause {
        case BoringSSLError.sslError(let stack), BoringSSLError.unknownError(let stack),
            BoringSSLError.invalidSNIName(let stack), BoringSSLError.failedToSetALPN(let stack):
            reasons = stack.map(\.reason)
        default: return nil
        }
    }

    var isVerificationFailure: Bool { reasons.contains("CERTIFICATE_VERIFY_FAILED") }

    /// Whether the server refuses the client because of its certificate, or because it has none. With TLS 1.3, this
    /// happens after the client's side of the handshake, when a first request may already have been sent.
    var refusesClient: Bool { reasons.contains { Self.refusalOfClient($0) != nil } }

    /// Returns the message that is shown to the caller.
    func meaning(_ place: String) -> String {
        reasons.reversed().lazy.compactMap { Self.meaning(of: $0, place) }.first
            ?? "TLS with \(place) failed: \(reasons.joined(separator: ", "))."
    }

    private static func meaning(of reason: String, _ place: String) -> String? {
        if let refusal = refusalOfClient(reason) { return "\(place) \(refusal)." }
        return switch reason {
        case "CERTIFICATE_VERIFY_FAILED":
            "\(place) could not prove over TLS that it is the host that was asked for: "
                + "its certificate is not valid, or of no authority that is trusted."
        case "TLSV1_ALERT_PROTOCOL_VERSION", "UNSUPPORTED_PROTOCOL":
            "\(place) supports no version of TLS that is allowed here."
        case "WRONG_VERSION_NUMBER":
            "The response of \(place) is not TLS; its port may be one for plain HTTP."
        case "HANDSHAKE_FAILURE_ON_CLIENT_HELLO":
            "\(place) refused the TLS handshake: it shares no version or cipher with the client."
        case "SSLV3_ALERT_HANDSHAKE_FAILURE":
            "\(place) aborted the TLS handshake, as servers do that require a client certificate."
        case "TLSV1_ALERT_UNRECOGNIZED_NAME": "\(place) refused the TLS handshake: it knows no host of this name."
        default: nil
        }
    }

    /// Returns the message for an alert about the client's certificate (RFC 8446 §6.2), or `nil` for other reasons.
    private static func refusalOfClient(_ reason: String) -> String? {
        switch reason {
        case "TLSV1_ALERT_CERTIFICATE_REQUIRED": "requires a client certificate, and received none"
        case "SSLV3_ALERT_CERTIFICATE_EXPIRED": "refuses the client certificate: it has expired"
        case "SSLV3_ALERT_CERTIFICATE_REVOKED": "refuses the client certificate: it was revoked"
        case "TLSV1_ALERT_UNKNOWN_CA": "refuses the client certificate: it does not know its authority"
        // Some servers send these alerts also to a client without a certificate.
        case "SSLV3_ALERT_BAD_CERTIFICATE", "SSLV3_ALERT_CERTIFICATE_UNKNOWN", "SSLV3_ALERT_UNSUPPORTED_CERTIFICATE",
            "TLSV1_ALERT_ACCESS_DENIED":
            "refuses the client for its certificate, or for having none"
        default: nil
        }
    }
}

extension BoringSSLInternalError {
    /// BoringSSL's name of the reason, without the source location that follows.
    fileprivate var reason: String {
        guard let start = description.firstRange(of: "OPENSSL_internal:")?.upperBound else { return "UNKNOWN" }
        return String(description[start...].prefix { $0.isASCII && ($0.isUppercase || $0.isNumber || $0 == "_") })
    }
}
