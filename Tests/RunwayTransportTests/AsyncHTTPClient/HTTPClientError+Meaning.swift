import AsyncHTTPClient

@testable import Runway
@testable import RunwayTransport

extension NetworkError {
    /// What an error of AsyncHTTPClient, or of the libraries below it, means to a caller.
    init(client error: any Error, from authority: String?) {
        guard let error = error as? HTTPClientError else {
            self.init(transport: error, from: authority)
            return
        }
        let (kind, detail) = error.meaning(authority ?? "the server")
        self.init(kind, in: .transporting, detail, sending: error.sending, underlying: error)
    }
}

extension HTTPClientError {
    /// What it means to a caller.
    fileprivate func meaning(_ place: String) -> (NetworkError.Kind, String) {
        switch self {
        // The client cancels what is under way when it is shut down, too.
        case .cancelled where Task.isCancelled: (.cancelled, "The call was cancelled.")
        case .cancelled, .alreadyShutdown: (.noNetwork, "The transport was shut down.")
        case .connectTimeout: (.timedOut, "No connection to \(place) could be made in time.")
        case .getConnectionFromPoolTimeout: (.timedOut, "No connection to \(place) became free in time.")
        case .tlsHandshakeTimeout: (.timedOut, "TLS with \(place) could not be set up in time.")
        case .readTimeout: (.timedOut, "\(place) was silent for too long.")
        case .deadlineExceeded, .writeTimeout: (.timedOut, "The exchange with \(place) took too long.")
        case .invalidURL, .emptyHost, .emptyScheme, .missingSocketPath:
            (.invalidConfiguration, "The URL of the request can't be used.")
        case .bodyLengthMismatch:
            (.invalidParameters, "The body of the request does not have the announced length.")
        case .traceRequestWithBody: (.invalidParameters, "A TRACE request can't have a body.")
        case .remoteConnectionClosed:
            (.noNetwork, "\(place) closed the connection before the response was complete.")
        // What these name, and what their texts show, may be secret.
        case _ where hasKind(of: .invalidHeaderFieldNames([])):
            (.invalidParameters, "The name of a header field of the request is invalid.")
        case _ where hasKind(of: .invalidHeaderFieldValues([])):
            (.invalidParameters, "The value of a header field of the request is invalid.")
        default: (.noNetwork, "The exchange with \(place) failed: \(redactedDescription).")
        }
    }

    /// Whether the errors differ in what they carry at most, of which the short description holds nothing.
    private func hasKind(of other: HTTPClientError) -> Bool { shortDescription == other.shortDescription }

    /// Whether any of the request left, as far as the error itself says.
    fileprivate var sending: SendState {
        switch self {
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout, .alreadyShutdown, .invalidURL,
            .emptyHost, .emptyScheme, .missingSocketPath, .traceRequestWithBody:
            .notSent
        default: .unknown
        }
    }
}
