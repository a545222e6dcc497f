import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension NetworkError {
    /// Creates the error of a call from an error of its `URLSession`.
    ///
    /// - Parameters:
    ///   - error: The error of waiting for a response or reading it.
    ///   - authority: The host and port of the request.
    init(session error: any Error, from authority: String?) {
        if let error = error as? NetworkError {
            self = error
            return
        }
        if let failure = error as? FailedAfterSending {
            self.init(session: failure.error, from: authority)
            if self.sending == .notSent { self.sending = .unknown }
            return
        }
        let place = authority ?? "the server"
        let (kind, detail, sending): (Kind, String, SendState)
        switch error {
        case is CancellationError: (kind, detail, sending) = (.cancelled, "The call was cancelled.", .unknown)
        case let error as URLError: (kind, detail, sending) = Self.meaning(of: error, place)
        case let error as BodyTooLarge:
            (kind, sending) = (.invalidResponse, .sent)
            detail = "The response of \(place) is larger than the \(error.limit) bytes that its reader allows."
        case let error as ReaderTooSlow:
            (kind, sending) = (.invalidResponse, .sent)
            detail =
                "The response of \(place) was read too slowly: more than \(error.limit) bytes waited, and this system's URLSession "
                + "can't pause."
        case let error as RequestBodyFailure:
            (kind, detail) = error.meaning
            sending = if case .tooLarge = error { .notSent } else { .unknown }
        case let error as LoopbackProxy:
            (kind, sending) = (.invalidConfiguration, .notSent)
            detail =
                "The request to this machine itself would go through the proxy that \(error.variable) names; "
                + "name the host in no_proxy."
        case let error as BodyNotAllowed:
            (kind, sending) = (.invalidParameters, .notSent)
            detail = "A \(error.method) request can't have a body."
        case let error as ServerRefused: (kind, detail, sending) = Self.notTrusted(place, error.reason)
        default:
            (kind, sending) = (.noNetwork, .unknown)
            detail = "The exchange with \(place) failed: \(error.redactedDescription)."
        }
        let cause = (error as? RequestBodyFailure)?.cause ?? error
        self.init(kind, in: .transporting, detail, sending: sending, underlying: cause)
        isUndecodable = (error as? URLError)?.isUndecodable ?? false
    }

    /// Returns the kind, a fixed sentence, and whether bytes were sent. The system's own sentences are not used,
    /// because they may contain secrets of a response or certificate.
    private static func meaning(of error: URLError, _ place: String) -> (Kind, String, SendState) {
        switch error.code {
        // Other cancellations of a task are recorded before this point.
        case .cancelled: return (.noNetwork, "The transport was shut down.", .unknown)
        case .timedOut: return (.timedOut, "\(place) was silent for too long.", .unknown)
        case .cannotFindHost, .dnsLookupFailed:
            return (.noNetwork, "No connection to \(place) could be made: its name could not be looked up.", .notSent)
        case .cannotConnectToHost:
            return (.noNetwork, "No connection to \(place) could be made.", .notSent)
        case .notConnectedToInternet, .internationalRoamingOff, .callIsActive, .dataNotAllowed:
            return (.noNetwork, "No connection to \(place) could be made: \(error.lackOfNetwork).", .notSent)
        case .networkConnectionLost: return (.noNetwork, "The connection to \(place) was lost.", .unknown)
        case .secureConnectionFailed where error.isConnectionLoss:
            return (.noNetwork, "The connection to \(place) was lost before TLS was set up.", .notSent)
        case .secureConnectionFailed: return notTrusted(place, "TLS could not be set up")
        case .serverCertificateHasBadDate: return notTrusted(place, "its certificate has expired or is not valid yet")
        case .serverCertificateNotYetValid: return notTrusted(place, "its certificate is not valid yet")
        case .serverCertificateHasUnknownRoot:
            return notTrusted(place, "its certificate was issued by an unknown authority")
        case .serverCertificateUntrusted: return notTrusted(place, "its certificate is not trusted")
        case .clientCertificateRejected, .clientCertificateRequired:
            return (
                .notTrusted, "\(place) refuses the client because its certificate is absent or not accepted.", .notSent
            )
        case .badURL, .unsupportedURL:
            return (.invalidConfiguration, "The URL of the request can't be used.", .notSent)
        case .appTransportSecurityRequiresSecureConnection:
            return (.invalidConfiguration, "The app's settings do not allow plain HTTP to \(place).", .notSent)
        case .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData, .dataLengthExceedsMaximum,
            .zeroByteResource:
            return (.invalidResponse, "The response of \(place) can't be read (\(error.named)).", .unknown)
        default: return platformMeaning(of: error, place)
        }
    }

    private static func notTrusted(_ place: String, _ reason: String) -> (Kind, String, SendState) {
        (.notTrusted, "\(place) could not prove over TLS that it is the host that was asked for: \(reason).", .notSent)
    }

    private static func platformMeaning(of error: URLError, _ place: String) -> (Kind, String, SendState) {
        #if canImport(FoundationNetworking)
            if error.code == .badServerResponse {
                return (.noNetwork, "\(place) closed the connection before the response was complete.", .unknown)
            }
            // Foundation has no codes for most of libcurl's errors but passes on libcurl's sentence. The sentence is
            // only compared, never shown.
            let text = error.userInfo[NSLocalizedDescriptionKey] as? String ?? ""
            if text.hasPrefix("SSL") || text.contains("certificate") {
                let fault = certificateFaults.first { text.contains($0.text) }
                return notTrusted(place, fault?.reason ?? "TLS could not be set up")
            }
            let concernsResponse = ["HTTP", "encoding", "transfer closed", "chunk", "header", "Header", "decompress"]
                .contains {
                    text.contains($0)
                }
            return concernsResponse
                ? (.invalidResponse, "The response of \(place) can't be read (\(error.named)).", .unknown)
                : (.noNetwork, "The exchange with \(place) failed (\(error.named)).", .unknown)
        #else
            return error.code == .badServerResponse
                ? (.invalidResponse, "The response of \(place) can't be read (\(error.named)).", .unknown)
                : (.noNetwork, "The exchange with \(place) failed (\(error.named)).", .unknown)
        #endif
    }

    #if canImport(FoundationNetworking)
        /// Parts of the sentences in which libcurl and OpenSSL report errors of certificates.
        private static let certificateFaults = [
            (text: "expired", reason: "its certificate, or that of an authority in its chain, has expired"),
            (text: "not yet valid", reason: "its certificate, or that of an authority in its chain, is not valid yet"),
            (text: "self-signed", reason: "its certificate, or that of its authority, is self-signed"),
            (text: "self signed", reason: "its certificate, or that of its authority, is self-signed"),
            (text: "issuer certificate", reason: "its certificate was issued by an unknown authority"),
            (text: "subject name", reason: "its certificate does not name the host"),
        ]
    #endif
}

extension URLError {
    /// Whether a body has a coding that the session does not know, or does not match its coding.
    fileprivate var isUndecodable: Bool {
        #if canImport(FoundationNetworking)
            // Foundation has no code for this error of libcurl (CURLE_BAD_CONTENT_ENCODING) but passes on its sentence.
            (userInfo[NSLocalizedDescriptionKey] as? String)?.lowercased().contains("encoding") ?? false
        #else
            code == .cannotDecodeRawData || code == .cannotDecodeContentData
        #endif
    }

    fileprivate var named: String { "URLError \(errorCode)" }

    /// The reason why the device has no network for a request.
    fileprivate var lackOfNetwork: String {
        #if canImport(Darwin)
            switch networkUnavailableReason {
            case .constrained: return "the network is in Low Data Mode, which the request may not use"
            case .expensive: return "the network may cost money, and the request may not use such networks"
            case .cellular: return "the app may not use the mobile network"
            default: break
            }
        #endif
        return "the device has no network for it"
    }

    /// Whether a TLS failure is in fact a lost connection, according to the error of the underlying stream.
    ///
    /// Domain 1 is POSIX. Domain 3 is Secure Transport, whose codes here are `errSSLClosedGraceful`,
    /// `errSSLClosedAbort` and `errSSLClosedNoNotify`.
    fileprivate var isConnectionLoss: Bool {
        let code = userInfo["_kCFStreamErrorCodeKey"] as? Int
        switch userInfo["_kCFStreamErrorDomainKey"] as? Int {
        case 1: return true
        case 3: return [-9805, -9806, -9816].contains(code)
        default: return false
        }
    }
}

/// Thrown if a task fails after it has sent bytes of its body. A session may send a request again over another
/// connection. If that connection then fails or is refused, the error alone would suggest that nothing was sent.
struct FailedAfterSending: Error {
    let error: any Error
}

/// Thrown if a server was refused because of its certificates, before any byte of a request was sent over that
/// connection.
struct ServerRefused: Error {
    let reason: String
}
