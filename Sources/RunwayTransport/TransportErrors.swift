import Foundation
import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import Runway

extension NetworkError {
    /// Translates an error of a connection or of an underlying library.
    ///
    /// The sentences are fixed. They never contain the text of a library's error, which may contain header fields, as
    /// NIO's text for invalid pseudo-header fields does. An unknown error is described by the name of its type.
    ///
    /// - Parameters:
    ///   - error: The error of waiting for a response or reading it.
    ///   - authority: The host and port of the request.
    init(transport error: any Error, from authority: String?) {
        let place = authority ?? "the server"
        let cause = (error as? ExchangeFailure)?.cause ?? error
        let (kind, detail) = Self.meaning(of: cause, place)
        self.init(
            kind, in: .transporting, detail, sending: Self.sending(error),
            underlying: (cause as? RequestBodyFailure)?.cause ?? cause)
        isUndecodable =
            switch cause {
            case let failure as ContentDecoder.Failure: failure.isLasting
            case WireError.transferCoding, WireError.chunks: true
            default: false
            }
    }

    /// Returns whether any byte of the request was sent. Without an open connection, certainly no byte was sent.
    private static func sending(_ error: any Error) -> SendState {
        switch error {
        case let error as ExchangeFailure: error.sending
        case let error as WireError: error.sending
        case let error as WebSocketProblem: error.sending
        case let error as NIOHTTP2Errors.StreamClosed: WireError.reset(error.errorCode).sending
        case is NIOConnectionError, is DialError, is TrustRefused, NIOSSLError.handshakeFailed: .notSent
        case let error as NIOSSLExtraError
        where [.failedToValidateHostname, .serverHostnameImpossibleToMatch].contains(error):
            .notSent
        // ECONNREFUSED is the only system error that cannot occur on an open connection.
        case let error as IOError where error.errnoCode == ECONNREFUSED: .notSent
        default: .unknown
        }
    }

    private static func meaning(of error: any Error, _ place: String) -> (Kind, String) {
        switch error {
        case is CancellationError: (.cancelled, "The call was cancelled.")
        case let error as DialError: error.meaning(place)
        case let error as WireError: error.meaning(place)
        case let error as WebSocketProblem: error.meaning(place)
        case let error as NetworkError: (error.kind, error.detail)
        case let error as BodyTooLarge:
            (
                .invalidResponse,
                "The response of \(place) is larger than the \(error.limit) bytes that its reader allows."
            )
        case let error as RequestBodyFailure: error.meaning
        case let error as ContentDecoder.Failure:
            (.invalidResponse, "The compressed body of the response of \(place) is broken: \(error).")
        case let error as TrustRefused:
            (.notTrusted, "\(place) could not prove over TLS that it is the host that was asked for: \(error).")
        case NIOSSLError.uncleanShutdown:
            (.noNetwork, "The connection to \(place) was cut off in the middle of the response.")
        case NIOSSLError.handshakeFailed(let cause) where cause.isEndOfConnection:
            (.noNetwork, "The connection to \(place) was lost before TLS was set up.")
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            meaning(of: TrustRefused(reason: TrustRefused.otherName), place)
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError, is NIOTLSUnwrappingError:
            (
                .notTrusted,
                TLSFailure(error)?.meaning(place)
                    ?? "\(place) could not prove over TLS that it is the host that was asked for (\(error.redactedDescription))."
            )
        case let error as NIOHTTP2Errors.StreamClosed: WireError.reset(error.errorCode).meaning(place)
        case let error as NIOHTTP2Errors.StreamError: meaning(of: error.baseError, place)
        case let error as any NIOHTTP2Error:
            (.invalidResponse, "The response of \(place) is not HTTP: \(reason(of: error)).")
        case is any NIOHPACKError:
            (.invalidResponse, "The response of \(place) is not HTTP: its compressed header fields can't be read.")
        case HTTPParserError.invalidEOFState:
            (.invalidResponse, "The connection to \(place) ended in the middle of the response.")
        case let error as HTTPParserError:
            (.invalidResponse, "The response of \(place) is not HTTP: \(error.reason).")
        case let error as NIOConnectionError:
            (.noNetwork, "No connection to \(place) could be made: \(reason(of: error)).")
        case let error as IOError where [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH].contains(error.errnoCode):
            (.noNetwork, "No connection to \(place) could be made: \(reason(of: error)).")
        case is IOError, is ChannelError: (.noNetwork, "The connection to \(place) was lost: \(reason(of: error)).")
        default: (.noNetwork, "The exchange with \(place) failed: \(reason(of: error)).")
        }
    }

    /// Returns the reasons for all attempted addresses.
    private static func reason(of error: NIOConnectionError) -> String {
        if let dns = error.dnsAError ?? error.dnsAAAAError {
            return "its name could not be looked up (\(reason(of: dns)))"
        }
        let reasons = error.connectionErrors.map { reason(of: $0.error) }
        return reasons.isEmpty ? "there was no address to connect to" : reasons.joined(separator: "; ")
    }

    /// Returns a safe text for any error: the system's text for system errors, and fixed words for other errors.
    static func reason(of error: any Error) -> String {
        switch error {
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case let error as POSIXError: String(cString: strerror(error.code.rawValue))
        case ChannelError.eof, ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed, ChannelError.inputClosed,
            ChannelError.outputClosed:
            "it was closed"
        case ChannelError.connectTimeout: "it took too long"
        case let error as any NIOHTTP2Error: reason(of: error)
        case NIOSSLError.handshakeFailed(let cause) where cause.isEndOfConnection: "it was lost before TLS was set up"
        default: error.redactedDescription
        }
    }

    private static func reason(of error: any NIOHTTP2Error) -> String {
        switch error {
        case is NIOHTTP2Errors.InvalidPseudoHeaders, is NIOHTTP2Errors.MissingPseudoHeader,
            is NIOHTTP2Errors.DuplicatePseudoHeader, is NIOHTTP2Errors.PseudoHeaderAfterRegularHeader,
            is NIOHTTP2Errors.UnknownPseudoHeader, is NIOHTTP2Errors.UnsupportedPseudoHeader,
            is NIOHTTP2Errors.InvalidStatusValue, is NIOHTTP2Errors.InvalidPseudoHeaderValue,
            is NIOHTTP2Errors.EmptyPathHeader:
            "its pseudo-header fields are invalid"
        case is NIOHTTP2Errors.InvalidHTTP2HeaderFieldName: "the name of a header field is invalid"
        case is NIOHTTP2Errors.InvalidHTTP2HeaderFieldValue: "the value of a header field is invalid"
        case is NIOHTTP2Errors.ForbiddenHeaderField: "it has a header field that HTTP/2 forbids"
        case is NIOHTTP2Errors.UnableToParseFrame: "a frame can't be parsed"
        case is NIOHTTP2Errors.FlowControlViolation, is NIOHTTP2Errors.InvalidFlowControlWindowSize,
            is NIOHTTP2Errors.InvalidWindowIncrementSize:
            "it violates the flow control of HTTP/2"
        case is NIOHTTP2Errors.InvalidSetting, is NIOHTTP2Errors.ReceivedBadSettings: "its settings are invalid"
        default: "it violates HTTP/2 (\(type(of: error)))"
        }
    }
}

extension HTTPParserError {
    /// The problem with an HTTP/1.1 message, in fixed words.
    package var reason: String {
        switch self {
        case .headerOverflow: "its head is too large"
        case .invalidVersion, .invalidStatus, .invalidMethod, .invalidURL, .invalidConstant, .strictModeAssertion:
            "its first line is invalid"
        case .invalidHeaderToken, .invalidCharactersUsed, .lfExpected: "a header field is invalid"
        case .invalidContentLength, .unexpectedContentLength: "its Content-Length is invalid"
        case .invalidChunkSize: "the size of a chunk is invalid"
        default: "it can't be parsed"
        }
    }
}

extension BoringSSLError {
    /// Whether the connection ended; `false` if the server failed verification.
    fileprivate var isEndOfConnection: Bool {
        switch self {
        case .syscallError, .zeroReturn: true
        case .sslError(let errors), .unknownError(let errors): errors.allSatisfy { $0 == .eofDuringHandshake }
        default: false
        }
    }
}
