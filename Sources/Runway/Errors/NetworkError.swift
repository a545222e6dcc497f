import Foundation
public import HTTPTypes
import RunwayJSON

/// The only error type that Runway's calls throw and that delegates receive.
///
/// Code decides by ``kind-swift.property`` how to react. ``description`` explains the failure in one sentence that a
/// person can act on. The other properties state the step of the call, the request, the host and the attempt that
/// failed. The texts are in English, for developers and logs. An app that shows an error to its users writes its own
/// text for the kind.
///
/// ```swift
/// func explanation(of error: NetworkError) -> String {
///     switch error.kind {
///     case .noNetwork, .timedOut: "There is no connection."
///
///     case .needsLogin: "Log in to see your homes."
///     case .service: error.serviceError?.message ?? "The request was refused."
///     default: "Something went wrong."
///     }
/// }
/// ```
public struct NetworkError: Error, Sendable {
    /// The kind of the failure, which determines how an app reacts.
    public var kind: Kind
    /// The step of the call in which the error occurred.
    public var step: FlightStep
    /// Describes the failure in one sentence, without secrets. Records and logs show it. In the error that ends a call,
    /// the detail is a single line, whatever the server sent.
    ///
    /// If the app's endpoint, validator or reformer throws an error, the detail names only the error's type and, for an
    /// enum, its case. For a `DecodingError` or `EncodingError` it states the type and the coding path. To supply a
    /// sentence, throw a `NetworkError`.
    public var detail: String
    /// The error that caused this error; `nil` if this error was not caused by another one.
    public var underlying: (any Error)?
    /// The method and URL of the request, with secrets redacted; `nil` if the call failed before its request was
    /// created.
    public var request: String?
    /// The host of the request; `nil` if the call failed before the host was known.
    public var host: String?
    /// The number of the failed attempt, counted from 1; 0 if nothing was sent.
    public var attempt = 0
    /// The status of the response; `nil` if no response was received.
    public var status: HTTPResponse.Status?
    /// The error that the service reports in its response if the kind is ``Kind/service``; otherwise `nil`.
    public var serviceError: ServiceError?
    /// The complete response that is invalid or reports the failure; `nil` if the error has no response. Records never
    /// contain this response.
    public var rawData: RawData?
    /// Whether any part of the request was sent. The default is ``SendState/unknown``.
    public var sending: SendState
    /// The time after the error at which the same call can be sent again; `nil` if that is unknown.
    ///
    /// The server may state the time. The layer knows it for calls that it did not send: for ``Kind/unavailable``, for
    /// a host that was recently unreachable, and for a request that was repeated too often.
    public var retryAfter: Duration?
    /// The origin to which a redirect led, if the error concerns that origin; `nil` if the error concerns the call's
    /// own origin.
    var redirectedOrigin: Origin?
    /// Whether the server has processed the call's own request and the error concerns only a later hop. This is the
    /// case after a redirect that replaced the method (RFC 9110 §15.4.4). The default is `false`.
    package var followsProcessedRequest = false
    /// Whether the service declares that business code need not handle the error.
    var isAbsorbed = false
    /// Whether the body has an unknown content coding or does not match its coding, so that repeating the request would
    /// not help. The default is `false`. It is also `false` for a truncated body.
    package var isUndecodable = false

    /// Creates an error, for a stage, transport or endpoint that describes the failure itself.
    ///
    /// - Parameters:
    ///   - kind: The kind of the failure.
    ///   - step: The step of the call in which the failure occurred.
    ///   - detail: A description of the failure in one sentence, without secrets.
    ///   - status: The status of the response, if a response was received.
    ///   - sending: Whether any part of the request was sent. If there is a status, the request was sent.
    ///   - underlying: The error that caused this error, if any.
    public init(
        _ kind: Kind, in step: FlightStep, _ detail: String, status: HTTPResponse.Status? = nil,
        sending: SendState = .unknown, underlying: (any Error)? = nil
    ) {
        self.kind = kind
        self.step = step
        self.detail = detail.withOneFullStop
        self.status = status
        self.sending = status == nil ? sending : .sent
        self.underlying = underlying
    }
}

extension NetworkError {
    static func invalidParameters(in step: FlightStep, _ error: any Error) -> NetworkError {
        if let error = error as? NetworkError { return error }
        var underlying = error
        if case EncodingError.invalidValue(_, let context) = error {
            // The value is left out because it may contain secrets.
            underlying = EncodingError.invalidValue((), context)
        }
        return NetworkError(.invalidParameters, in: step, error.redactedDescription, underlying: underlying)
    }

    static func invalidResponse(in step: FlightStep, _ rawData: RawData, _ error: any Error) -> NetworkError {
        if let error = error as? NetworkError { return error }
        // A JSON error contains excerpts of the body, which are redacted like the excerpt in `detail`.
        let text = (error as? JSONError)?.description ?? error.redactedDescription
        var located = NetworkError(
            .invalidResponse, in: step, rawData.withStart(text), status: rawData.response.status, underlying: error)
        located.rawData = rawData
        return located
    }

    /// Returns the error for a response body that could not be read to its end. It wraps the error that the transport
    /// threw.
    static func unreadableBody(_ error: any Error) -> NetworkError {
        NetworkError(
            .noNetwork, in: .transporting, "The body of the response could not be read: \(error.redactedDescription).",
            underlying: error)
    }

    static func cancelled(in step: FlightStep) -> NetworkError {
        NetworkError(.cancelled, in: step, "The call was cancelled.")
    }
}

extension NetworkError: CustomStringConvertible, DescribedError {
    /// Describes the failure in one sentence, with the step of the call and the request.
    public var description: String {
        var text = detail
        if let request {
            text += " (\(request)"
            if attempt > 1 { text += ", attempt \(attempt)" }
            text += ")"
        }
        return text
    }
}

/// An error that a service reports in its envelope, the common outer structure of its response bodies.
///
/// ```swift
/// switch error.serviceError?.code {
/// case "SOLD": "This home is sold."
/// default: error.serviceError?.message ?? "\(error)"
/// }
/// ```
public struct ServiceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The service's error code as text, even if it is a number in the response.
    public var code: String
    /// The service's message; empty if the response contains none.
    public var message: String

    /// Creates the error of a service from its code and message, for ``Verdict/failed(_:isAbsorbed:)``.
    public init(code: String, message: String = "") {
        self.code = code
        self.message = message
    }

    /// The code, followed by the message unless that is empty.
    public var description: String { message.isEmpty ? code : "\(code): \(message)" }
}

/// Whether any part of a call's requests was sent before the failure.
///
/// The state decides whether a request that changes data may be sent again. A transport reports ``notSent`` only if it
/// is certain. ``unknown`` is treated like ``sent``.
public enum SendState: String, Sendable, Hashable {
    /// Certainly nothing was sent: there was no connection, the TLS handshake was incomplete, or the server reported
    /// that it processed no part of the request (RFC 9113 §8.7).
    case notSent
    /// At least a part of the request was sent.
    case sent
    /// The transport does not know whether anything was sent.
    case unknown

    /// Combines the state of a call's earlier requests with the state of a later request.
    ///
    /// A call may send several requests, such as retries or redirects. The combined state is ``notSent`` only if the
    /// state of every request is ``notSent``.
    package func and(_ later: SendState) -> SendState {
        if self == .sent || later == .sent { return .sent }
        return self == .unknown || later == .unknown ? .unknown : .notSent
    }
}
