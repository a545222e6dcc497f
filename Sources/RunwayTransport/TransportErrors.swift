import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Runway

extension NetworkError {
    /// What an error of the client, or of the libraries below it, means to a caller.
    init(transport error: any Error, for request: Request?) {
        let place = request?.head.authority.map { " \($0)" } ?? " the server"
        let (kind, detail) = Self.meaning(of: error, place)
        self.init(kind, in: .transporting, detail, underlying: error)
    }

    private static func meaning(of error: any Error, _ place: String) -> (Kind, String) {
        switch error {
        case let error as NetworkError: (error.kind, error.detail)
        case is CancellationError: (.cancelled, "The call was cancelled.")
        case let error as HTTPClientError: meaning(of: error, place)
        case let error as BodyTooLarge:
            (.invalidAnswer, "The answer of\(place) is larger than the \(error.limit) bytes that its reader allows.")
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
            (.notTrusted, "\(place.dropFirst()) could not prove over TLS that it is the host that was asked for: \(error).")
        case let error as HTTPParserError:
            error == .invalidEOFState
                ? (.invalidAnswer, "The connection to\(place) ended in the middle of the answer.")
                : (.invalidAnswer, "The answer of\(place) is not HTTP: \(error).")
        case let error as NIOConnectionError:
            (.noNetwork, "No connection to\(place) could be made: \(reason(of: error)).")
        case is IOError, is ChannelError:
            (.noNetwork, "The connection to\(place) was lost: \(error).")
        default: (.invalidAnswer, "The exchange with\(place) failed: \(error).")
        }
    }

    private static func meaning(of error: HTTPClientError, _ place: String) -> (Kind, String) {
        switch error {
        case .cancelled: (.cancelled, "The call was cancelled.")
        case .connectTimeout: (.timedOut, "No connection to\(place) could be made in time.")
        case .tlsHandshakeTimeout: (.timedOut, "TLS with\(place) could not be set up in time.")
        case .readTimeout: (.timedOut, "\(place.dropFirst()) was silent for too long.")
        case .deadlineExceeded, .writeTimeout, .getConnectionFromPoolTimeout:
            (.timedOut, "The exchange with\(place) took too long: \(error).")
        case .invalidURL, .emptyHost, .emptyScheme, .missingSocketPath:
            (.invalidConfiguration, "The URL of the request can't be used: \(error).")
        case .bodyLengthMismatch:
            (.invalidParameters, "The body of the request is not as long as it was said to be.")
        case .remoteConnectionClosed:
            (.noNetwork, "\(place.dropFirst()) closed the connection before it answered in full.")
        case .alreadyShutdown: (.noNetwork, "The transport was shut down.")
        default: (.noNetwork, "The exchange with\(place) failed: \(error).")
        }
    }

    /// The reasons of every address that was tried, without what repeats.
    private static func reason(of error: NIOConnectionError) -> String {
        if let dns = error.dnsAError ?? error.dnsAAAAError { return "its name could not be looked up (\(dns))" }
        let reasons = error.connectionErrors.map { "\($0.error)" }
        return reasons.isEmpty ? "\(error)" : reasons.joined(separator: "; ")
    }
}
