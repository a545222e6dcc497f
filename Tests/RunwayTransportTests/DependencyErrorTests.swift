import Foundation
import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import RunwayJSON
import RunwayTesting
import SwiftASN1
import Testing

@testable import Runway
@testable import RunwayTransport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Errors of the libraries below, each of which holds a secret where it can hold anything, and what is said of them.
@Suite(.timeLimit(.minutes(10)))
struct DependencyErrorTests {
    private static let secret = "planted-7f3a"

    /// An error that nobody knows, and whose every text is a secret.
    private struct Unknown: Error, LocalizedError, CustomStringConvertible, CustomDebugStringConvertible {
        var description: String { secret }
        var debugDescription: String { secret }
        var errorDescription: String? { secret }
    }

    /// Enums and structs that describe themselves by each of the ways that string interpolation and mirrors look for.
    private enum Described: Error, CustomStringConvertible {
        case plain
        var description: String { secret }
    }
    private enum Debugged: Error, CustomDebugStringConvertible {
        case plain
        var debugDescription: String { secret }
    }
    private enum Streamed: Error, TextOutputStreamable {
        case plain
        func write(to target: inout some TextOutputStream) { target.write(secret) }
    }
    private enum Reflected: Error, CustomReflectable {
        case plain
        var customMirror: Mirror { Mirror(self, children: [secret: 1], displayStyle: .enum) }
    }
    private enum Localized: Error, LocalizedError {
        case plain
        var errorDescription: String? { secret }
    }
    private struct Held: Error { let secret = DependencyErrorTests.secret }
    private enum Payload: Error { case token(String) }

    private enum Key: String, CodingKey { case rent }

    private static let ofCodable: [any Error] = {
        let context = DecodingError.Context(
            codingPath: [Key.rent], debugDescription: secret, underlyingError: Unknown())
        return [
            DecodingError.typeMismatch(Int.self, context), DecodingError.valueNotFound(Int.self, context),
            DecodingError.keyNotFound(Key.rent, context), DecodingError.dataCorrupted(context),
            EncodingError.invalidValue(
                secret, .init(codingPath: [Key.rent], debugDescription: secret, underlyingError: Unknown())),
        ]
    }()

    private static let ofApps: [any Error] = [
        Unknown(), Described.plain, Debugged.plain, Streamed.plain, Reflected.plain, Localized.plain, Held(),
        Payload.token(secret), NSError(domain: secret, code: 1, userInfo: [NSLocalizedDescriptionKey: secret]),
    ]

    private static let block = HPACKHeaders([
        (":status", secret), ("authorization", "Bearer \(secret)"), ("cookie", "sid=\(secret)"), (secret, secret),
    ])

    private static let ofHTTP2: [any Error] = [
        NIOHTTP2Errors.invalidPseudoHeaders(block), NIOHTTP2Errors.unsupported(info: secret),
        NIOHTTP2Errors.missingPseudoHeader(secret), NIOHTTP2Errors.duplicatePseudoHeader(secret),
        NIOHTTP2Errors.pseudoHeaderAfterRegularHeader(secret), NIOHTTP2Errors.unknownPseudoHeader(secret),
        NIOHTTP2Errors.unsupportedPseudoHeader(secret), NIOHTTP2Errors.invalidStatusValue(secret),
        NIOHTTP2Errors.invalidHTTP2HeaderFieldName(secret),
        NIOHTTP2Errors.forbiddenHeaderField(name: secret, value: secret),
        NIOHTTP2Errors.invalidHTTP2HeaderFieldValue(name: secret, value: secret),
        NIOHTTP2Errors.invalidPseudoHeaderValue(name: secret, value: secret),
        NIOHTTP2Errors.streamError(streamID: 1, baseError: NIOHTTP2Errors.invalidPseudoHeaders(block)),
        NIOHTTP2Errors.streamError(streamID: 1, baseError: Unknown()),
        NIOHTTP2Errors.invalidSetting(setting: HTTP2Setting(parameter: .enablePush, value: 1)),
        NIOHTTP2Errors.invalidFlowControlWindowSize(delta: 1, currentWindowSize: 1),
        NIOHTTP2Errors.noSuchStream(streamID: 1), NIOHTTP2Errors.streamClosed(streamID: 1, errorCode: .cancel),
        NIOHTTP2Errors.badStreamStateTransition(), NIOHTTP2Errors.priorityCycle(streamID: 1),
        NIOHTTP2Errors.trailersWithoutEndStream(streamID: 1), NIOHTTP2Errors.excessiveOutboundFrameBuffering(),
        NIOHTTP2Errors.invalidALPNToken(), NIOHTTP2Errors.badClientMagic(), NIOHTTP2Errors.flowControlViolation(),
        NIOHTTP2Errors.ioOnClosedConnection(), NIOHTTP2Errors.receivedBadSettings(),
        NIOHTTP2Errors.maxStreamsViolation(), NIOHTTP2Errors.streamIDTooSmall(), NIOHTTP2Errors.missingPreface(),
        NIOHTTP2Errors.createdStreamAfterGoaway(), NIOHTTP2Errors.invalidStreamIDForPeer(),
        NIOHTTP2Errors.raisedGoawayLastStreamID(), NIOHTTP2Errors.invalidWindowIncrementSize(),
        NIOHTTP2Errors.pushInViolationOfSetting(), NIOHTTP2Errors.unableToSerializeFrame(),
        NIOHTTP2Errors.unableToParseFrame(), NIOHTTP2Errors.missingHostHeader(), NIOHTTP2Errors.duplicateHostHeader(),
        NIOHTTP2Errors.emptyPathHeader(), NIOHTTP2Errors.contentLengthViolated(),
        NIOHTTP2Errors.contentLengthHeadersMismatch(), NIOHTTP2Errors.contentLengthHeaderNegative(),
        NIOHTTP2Errors.contentLengthHeaderMalformedValue(), NIOHTTP2Errors.excessiveEmptyDataFrames(),
        NIOHTTP2Errors.excessiveNumberOfGlitches(), NIOHTTP2Errors.excessivelyLargeHeaderBlock(),
        NIOHTTP2Errors.noStreamIDAvailable(), NIOHTTP2Errors.missingMultiplexer(),
        NIOHTTP2Errors.excessiveRSTFrames(), NIOHTTP2Errors.excessiveControlFrames(),
        NIOHTTP2Errors.excessiveContinuationFrames(), NIOHTTP2Errors.excessiveStreamErrors(),
        NIOHPACKErrors.ZeroHeaderIndex(), NIOHPACKErrors.MaxHeaderListSizeViolation(),
        NIOHPACKErrors.EmptyLiteralHeaderFieldName(), NIOHPACKErrors.UnrepresentableInteger(),
    ]

    private static let ofHTTP1: [HTTPParserError] = [
        .invalidCharactersUsed, .trailingGarbage, .invalidEOFState, .headerOverflow, .closedConnection,
        .invalidVersion, .invalidStatus, .invalidMethod, .invalidURL, .lfExpected, .invalidHeaderToken,
        .invalidContentLength, .unexpectedContentLength, .invalidChunkSize, .invalidConstant, .invalidInternalState,
        .strictModeAssertion, .paused, .unknown,
    ]

    private static let ofTLS: [any Error] = [
        NIOSSLError.writeDuringTLSShutdown,
        NIOSSLError.noSuchFilesystemObject, NIOSSLError.failedToLoadCertificate, NIOSSLError.failedToLoadPrivateKey,
        NIOSSLError.handshakeFailed(.sslError([.eofDuringHandshake])), NIOSSLError.handshakeFailed(.wantRead),
        NIOSSLError.handshakeFailed(.sslError([.eofDuringAdditionalCertficiateChainValidation])),
        NIOSSLError.shutdownFailed(.sslError([])), NIOSSLError.cannotMatchULabel,
        NIOSSLError.noCertificateToValidate, NIOSSLError.unableToValidateCertificate, NIOSSLError.cannotFindPeerIP,
        NIOSSLError.readInInvalidTLSState, NIOSSLError.uncleanShutdown, BoringSSLError.unknownError([]),
        NIOSSLExtraError.failedToValidateHostname, NIOSSLExtraError.serverHostnameImpossibleToMatch,
        NIOSSLExtraError.cannotUseIPAddressInSNI, NIOSSLExtraError.invalidSNIHostname,
        NIOSSLExtraError.unknownPrivateKeyFileType, NIOTLSUnwrappingError.alreadyClosed,
        ASN1Error.invalidPEMDocument(reason: secret), ASN1Error.invalidASN1Object(reason: secret),
    ]

    private static let ofChannels: [any Error] = [
        IOError(errnoCode: ECONNRESET, reason: secret), IOError(errnoCode: ECONNREFUSED, reason: secret),
        IOError(errnoCode: EPIPE, reason: secret), POSIXError(.EIO, userInfo: ["reason": secret]),
        ChannelError.connectPending, ChannelError.connectTimeout(.seconds(1)), ChannelError.operationUnsupported,
        ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed, ChannelError.outputClosed,
        ChannelError.inputClosed, ChannelError.eof, ChannelError.writeMessageTooLarge,
        ChannelError.writeHostUnreachable, ChannelError.unknownLocalAddress,
        ChannelError.inappropriateOperationForState, ChannelError.unremovableHandler,
    ]

    private static func all() throws -> [any Error] {
        let failures = [DialError.Failure(address: try SocketAddress(ipAddress: "::1", port: 1), error: Unknown())]
        return ofHTTP2 + ofHTTP1 + ofTLS + ofChannels + ofCodable + ofApps + [
            RequestBodyFailure.unreadable(Unknown()),
            DialError(cause: .failed, lookupError: Unknown(), failures: failures), ExchangeFailure(Unknown()),
        ]
    }

    @Test func dependencyErrorTextsAreNeverShown() throws {
        for error in try Self.all() {
            let mapped = NetworkError(transport: error, from: "example.com")
            let json = String(decoding: try JSONEncoder().encode(mapped), as: UTF8.self)
            for text in [mapped.detail, "\(mapped)", json] {
                #expect(!text.contains(Self.secret), "\(type(of: error)): \(text)")
                // Nor is the place in a library's source shown.
                #expect(!text.contains("NIOHTTP2/") && !text.contains(".swift") && !text.contains(".cc:"), "\(text)")
            }
        }
    }

    @Test func noErrorShowsTheSessionsOwnText() throws {
        let codes: [URLError.Code] = [
            .cancelled, .timedOut, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .notConnectedToInternet,
            .internationalRoamingOff, .callIsActive, .dataNotAllowed, .networkConnectionLost, .secureConnectionFailed,
            .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
            .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired, .badURL,
            .unsupportedURL, .appTransportSecurityRequiresSecureConnection, .cannotParseResponse,
            .cannotDecodeRawData, .cannotDecodeContentData, .dataLengthExceedsMaximum, .zeroByteResource,
            .badServerResponse, .unknown, .resourceUnavailable, .cannotOpenFile,
        ]
        for text in ["", "HTTP header ", "SSL certificate expired "] {
            let info = [NSLocalizedDescriptionKey: text + Self.secret, "NSErrorFailingURLStringKey": Self.secret]
            for error in codes.map({ URLError($0, userInfo: info) }) + [Unknown() as any Error] {
                let mapped = NetworkError(session: error, from: "example.com")
                #expect(!"\(mapped)".contains(Self.secret), "\(mapped)")
            }
        }
    }

    @Test func errorsOfTheAppAreShownByType() {
        #expect(Unknown().redactedDescription == "Unknown")
        #expect(!NetworkError.unreadableBody(Unknown()).detail.contains(Self.secret))
        #expect(NetworkError.tokenStore("The disk is full.").redactedDescription == "The disk is full.")
    }

    @Test func refusalsNeverShowTheErrorsOwnText() throws {
        let rawData = RawData(Array("{}".utf8), response: HTTPResponse(status: .ok))
        for error in try Self.all() {
            for mapped in [
                NetworkError.invalidParameters(in: .validating, error),
                .invalidResponse(in: .reforming, rawData, error),
            ] {
                let json = String(decoding: try JSONEncoder().encode(mapped), as: UTF8.self)
                for text in [mapped.detail, "\(mapped)", json] {
                    #expect(!text.contains(Self.secret), "\(type(of: error)): \(text)")
                }
            }
        }
    }

    @Test func codableErrorsSayWhichTypeIsExpectedWhere() {
        #expect(
            Self.ofCodable.map(\.redactedDescription) == [
                "The value \"rent\" is not of the type Int.", "The value \"rent\" is missing; its type is Int.",
                "The value \"rent.rent\" is missing.", "The value \"rent\" is invalid.",
                "The value \"rent\" of the type String can't be encoded.",
            ])
        let error = #expect(throws: DecodingError.self) {
            try JSONDocumentDecoder().decode([Int].self, from: Array(#"["\#(Self.secret)" 1]"#.utf8))
        }
        #expect(error?.redactedDescription == "The body is not JSON (line 1, column 17, byte 16): expected ',' or ']'")
    }

    @Test func appErrorsSayTheirTypeAndCase() {
        #expect(Payload.token(Self.secret).redactedDescription == "Payload.token")
        #expect(Held().redactedDescription == "Held")
        #expect(Localized.plain.redactedDescription == "Localized.plain")
        #expect(Described.plain.redactedDescription == "Described")
    }

    @Test(arguments: [true, false])
    func noRecordShowsWhatAnAppsCheckThrows(ofParameters: Bool) async throws {
        let records = RecordCollector()
        let network = NetworkLayer(transport: StubTransport { _ in .json("{}") }, sinks: [records])
        network.configure(TestService.self) { $0.baseURLs[.release] = "https://h.test" }
        for (index, error) in (Self.ofApps + Self.ofCodable).enumerated() {
            _ = try await network.failure(of: Checked(error: error, ofParameters: ofParameters))
            let record = try await records.records(count: index + 1)[index]
            let json = String(decoding: try JSONEncoder().encode(record), as: UTF8.self)
            for text in ["\(record)", record.summary, json] {
                #expect(!text.contains(Self.secret), "\(type(of: error)): \(text)")
            }
        }
    }

    @Test func headWithoutStatusIsInNoRecord() async throws {
        let block = rawBlock([("authorization", "Bearer \(Self.secret)"), ("cookie", "sid=\(Self.secret)")])
        try await RawHTTP2Server.run { connection, frame in
            guard let frame else { return connection.write(.settings(), .settingsAck) }
            if frame.is(.headers) { connection.write(.headers(frame.stream, block, isLast: true)) }
        } _: { server in
            let records = RecordCollector()
            let network = try server.layer(sinks: [records])
            let error = try await network.failure(of: Fetch<POST>("a"))
            #expect(error.kind == .invalidResponse && error.detail.contains("pseudo-header"), "\(error)")
            let record = try #require(try await records.records(count: 1).first)
            let json = String(decoding: try JSONEncoder().encode(record), as: UTF8.self)
            for text in ["\(error)", "\(record)", record.summary, json] {
                #expect(!text.contains(Self.secret), "\(text)")
            }
        }
    }
}

/// A call whose parameters or response are refused with an error that the test supplies.
private struct Checked: Endpoint {
    static let service = TestService.self
    var path: EndpointPath { "checked" }
    @Unencoded var error: any Error
    @Unencoded var ofParameters: Bool
    func validate() throws { if ofParameters { throw error } }
    func validate(response: RawData) throws { throw error }
}
