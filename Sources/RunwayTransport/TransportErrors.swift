import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOHTTPCompression
import NIOPosix
import NIOSSL
import Runway

extension NetworkError {
    /// What an error of the client, or of the libraries below it, means to a caller.
    ///
    /// - Parameters:
    ///   - error: What was thrown while an answer was awaited or read.
    ///   - authority: Whose answer it was to be.
    init(transport error: any Error, from authority: String?) {
        let place = authority ?? "the server"
        let cause = (error as? ExchangeFailure)?.cause ?? error
        let (kind, detail) = Self.meaning(of: cause, place)
        self.init(
            kind, in: .transporting, detail, sending: Self.sending(error),
            underlying: (cause as? RequestBodyFailure)?.cause ?? cause)
    }

    /// Whether any of the request left, which is certain only where there was no connection that could have taken it.
    private static func sending(_ error: any Error) -> SendState {
        switch error {
        case let error as HTTPClientError: error.sending
        case let error as ExchangeFailure: error.sending
        case let error as WireError: error.sending
        case let error as NIOHTTP2Errors.StreamClosed: WireError.reset(error.errorCode).sending
        case is NIOConnectionError, is DialError, is TrustRefused, NIOSSLError.handshakeFailed: .notSent
        case let error as NIOSSLExtraError
        where [.failedToValidateHostname, .serverHostnameImpossibleToMatch].contains(error):
            .notSent
        // Of the system's errors this one alone can't befall a connection that was open.
        case let error as IOError where error.errnoCode == ECONNREFUSED: .notSent
        default: .unknown
        }
    }

    private static func meaning(of error: any Error, _ place: String) -> (Kind, String) {
        switch error {
        case is CancellationError: (.cancelled, "The call was cancelled.")
        case let error as HTTPClientError: error.meaning(place)
        case let error as DialError: error.meaning(place)
        case let error as WireError: error.meaning(place)
        case let error as BodyTooLarge:
            (.invalidAnswer, "The answer of \(place) is larger than the \(error.limit) bytes that its reader allows.")
        case let error as RequestBodyFailure: error.meaning
        case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError,
            is ContentDecoder.Failure:
            (.invalidAnswer, "The compressed body of the answer of \(place) is broken: \(error).")
        case let error as TrustRefused:
            (.notTrusted, "\(place) could not prove over TLS that it is the host that was asked for: \(error).")
        case NIOSSLError.uncleanShutdown:
            (.noNetwork, "The connection to \(place) was cut off in the middle of the answer.")
        case NIOSSLError.handshakeFailed(let cause) where cause.isEndOfConnection:
            (.noNetwork, "The connection to \(place) was lost before TLS was set up.")
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
            (
                .notTrusted,
                TLSFailure(error)?.meaning(place)
                    ?? "\(place) could not prove over TLS that it is the host that was asked for: \(error)."
            )
        case let error as NIOHTTP2Errors.StreamClosed: WireError.reset(error.errorCode).meaning(place)
        case is any NIOHTTP2Error: (.invalidAnswer, "The answer of \(place) is not HTTP: \(error).")
        case HTTPParserError.invalidEOFState:
            (.invalidAnswer, "The connection to \(place) ended in the middle of the answer.")
        case is HTTPParserError: (.invalidAnswer, "The answer of \(place) is not HTTP: \(error).")
        case let error as NIOConnectionError:
            (.noNetwork, "No connection to \(place) could be made: \(reason(of: error)).")
        case let error as IOError where [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH].contains(error.errnoCode):
            (.noNetwork, "No connection to \(place) could be made: \(reason(of: error)).")
        case is IOError, is ChannelError: (.noNetwork, "The connection to \(place) was lost: \(reason(of: error)).")
        default: (.noNetwork, "The exchange with \(place) failed: \(error).")
        }
    }

    /// The reasons of every address that was tried, without what repeats.
    private static func reason(of error: NIOConnectionError) -> String {
        if let dns = error.dnsAError ?? error.dnsAAAAError { return "its name could not be looked up (\(dns))" }
        let reasons = error.connectionErrors.map { reason(of: $0.error) }
        return reasons.isEmpty ? "\(error)" : reasons.joined(separator: "; ")
    }

    /// What the system says of an error of its own; NIO's text for it names calls that mean nothing to a reader.
    static func reason(of error: any Error) -> String {
        switch error {
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case NIOSSLError.handshakeFailed(let cause) where cause.isEndOfConnection: "it was lost before TLS was set up"
        default: "\(error)"
        }
    }
}

extension BoringSSLError {
    /// Whether nothing was said that could be distrusted: the connection ended.
    fileprivate var isEndOfConnection: Bool {
        switch self {
        case .syscallError, .zeroReturn: true
        case .sslError(let errors), .unknownError(let errors): errors.allSatisfy { $0 == .eofDuringHandshake }
        default: false
        }
    }
}
