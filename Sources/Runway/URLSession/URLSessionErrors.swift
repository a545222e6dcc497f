import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension NetworkError {
    /// What an error of a session means to a caller.
    ///
    /// - Parameters:
    ///   - error: What was thrown while an answer was awaited or read.
    ///   - authority: Whose answer it was to be.
    init(session error: any Error, from authority: String?) {
        if let error = error as? NetworkError {
            self = error
            return
        }
        let place = authority ?? "the server"
        let (kind, detail, sending): (Kind, String, SendState)
        switch error {
        case is CancellationError: (kind, detail, sending) = (.cancelled, "The call was cancelled.", .unknown)
        case let error as URLError: (kind, detail, sending) = Self.meaning(of: error, place)
        case let error as FileError:
            (kind, detail, sending) = (.storage, "The body of the request could not be kept: \(error)", .notSent)
        case let error as BodyTooLarge:
            (kind, sending) = (.invalidAnswer, .sent)
            detail = "The answer of \(place) is larger than the \(error.limit) bytes that its reader allows."
        case let error as ReaderTooSlow:
            (kind, sending) = (.invalidAnswer, .sent)
            detail =
                "The answer of \(place) was read too slowly: more than \(error.limit) bytes waited, and this system's URLSession "
                + "can't pause."
        case let error as RequestBodyFailure:
            (kind, detail) = error.meaning
            sending = if case .tooLarge = error { .notSent } else { .unknown }
        case let error as LoopbackProxy:
            (kind, sending) = (.invalidConfiguration, .notSent)
            detail =
                "The request to this machine itself would go through the proxy that \(error.variable) names; name the host in no_proxy."
        case let error as BodyNotAllowed:
            (kind, sending) = (.invalidParameters, .notSent)
            detail = "A \(error.method) request can't have a body."
        default: (kind, detail, sending) = (.noNetwork, "The exchange with \(place) failed: \(error).", .unknown)
        }
        let cause = (error as? RequestBodyFailure)?.cause ?? error
        self.init(kind, in: .transporting, detail, sending: sending, underlying: cause)
    }

    private static func meaning(of error: URLError, _ place: String) -> (Kind, String, SendState) {
        let reason = error.userInfo[NSLocalizedDescriptionKey] as? String ?? "error \(error.errorCode)"
        switch error.code {
        // Who cancels the task of an exchange otherwise says so first.
        case .cancelled: return (.noNetwork, "The transport was shut down.", .unknown)
        case .timedOut: return (.timedOut, "\(place) was silent for too long.", .unknown)
        case .cannotFindHost, .dnsLookupFailed:
            return (
                .noNetwork, "No connection to \(place) could be made: its name could not be looked up (\(reason)).",
                .notSent
            )
        case .cannotConnectToHost, .notConnectedToInternet, .internationalRoamingOff, .callIsActive, .dataNotAllowed:
            return (.noNetwork, "No connection to \(place) could be made: \(reason).", .notSent)
        case .networkConnectionLost:
            return (.noNetwork, "The connection to \(place) was lost: \(reason).", .unknown)
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
            return notTrusted(place, reason)
        case .clientCertificateRejected, .clientCertificateRequired:
            return (
                .notTrusted, "\(place) refuses the client for its certificate, or for having none: \(reason).", .notSent
            )
        case .badURL, .unsupportedURL:
            return (.invalidConfiguration, "The URL of the request can't be used: \(reason).", .notSent)
        case .appTransportSecurityRequiresSecureConnection:
            return (.invalidConfiguration, "The app's settings do not allow plain HTTP to \(place).", .notSent)
        case .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData, .dataLengthExceedsMaximum,
            .zeroByteResource:
            return (.invalidAnswer, "The answer of \(place) can't be read: \(reason).", .unknown)
        default: return platformMeaning(of: error, place, reason)
        }
    }

    private static func notTrusted(_ place: String, _ reason: String) -> (Kind, String, SendState) {
        (.notTrusted, "\(place) could not prove over TLS that it is the host that was asked for: \(reason).", .notSent)
    }

    private static func platformMeaning(of error: URLError, _ place: String, _ reason: String) -> (
        Kind, String, SendState
    ) {
        #if canImport(FoundationNetworking)
            if error.code == .badServerResponse {
                return (.noNetwork, "\(place) closed the connection before it answered in full.", .unknown)
            }
            // Foundation has no code for most of what libcurl tells apart, but passes its sentence on.
            if reason.hasPrefix("SSL") || reason.contains("certificate") { return notTrusted(place, reason) }
            let isAnswer = ["HTTP", "encoding", "transfer closed", "chunk", "header", "Header", "decompress"].contains {
                reason.contains($0)
            }
            return isAnswer
                ? (.invalidAnswer, "The answer of \(place) can't be read: \(reason).", .unknown)
                : (.noNetwork, "The exchange with \(place) failed: \(reason).", .unknown)
        #else
            return error.code == .badServerResponse
                ? (.invalidAnswer, "The answer of \(place) can't be read: \(reason).", .unknown)
                : (.noNetwork, "The exchange with \(place) failed: \(reason).", .unknown)
        #endif
    }
}
