import Foundation
public import HTTPTypes
import RunwayJSON

/// The one error type that Runway's calls throw and that delegates receive.
///
/// ``kind-swift.property`` states the failure for code to switch over; ``description`` is one sentence that a person
/// can act on. The other properties state the step of the call, the request, the host and the attempt that failed. The
/// texts are in English and meant for developers and logs: an app that shows an error to its users writes its own text
/// for the kind.
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
    /// The kind of the failure.
    public var kind: Kind
    /// The step of the call in which the error arose.
    public var step: FlightStep
    /// Describes the failure in one sentence, without secrets. In the error that ends a call this is one line, whatever
    /// the server sent.
    ///
    /// Records and logs show it. If an endpoint, validator or reformer of the app throws an error, the detail names
    /// only its type and, of an enum, its case; of a `DecodingError` or `EncodingError` the type and the coding path.
    /// To supply a sentence, throw a `NetworkError`.
    public var detail: String
    /// The error that caused this one, if another part reported one.
    public var underlying: (any Error)?
    /// The method and URL of the request, secrets redacted; `nil` if the call failed before it had a request.
    public var request: String?
    /// The host that the request was for; `nil` if the call failed before the host was known.
    public var host: String?
    /// The number of the failed attempt, counted from 1; 0 if nothing was sent.
    public var attempt = 0
    /// The status of the response; `nil` if none was received.
    public var status: HTTPResponse.Status?
    /// The error that the service's envelope names, if the kind is ``Kind/service``; otherwise `nil`.
    public var serviceError: ServiceError?
    /// The whole response that is invalid or that reports the failure; `nil` if there is none. Records never contain
    /// this response.
    public var rawData: RawData?
    /// Whether any of the request reached the wire. The default is ``SendState/unknown``.
    public var sending: SendState
    /// The time after the error at which the same call can be sent again, if the server or the layer knows it;
    /// otherwise `nil`.
    ///
    /// The layer knows it of a call that it did not send: of ``Kind/unavailable``, of a host that could not be reached
    /// a moment ago, and of a request that was made too often.
    public var retryAfter: Duration?
    /// The origin that the error concerns, if a redirect led there; `nil` if it is the origin that the call is for.
    var redirectedOrigin: Origin?
    /// Whether the server has processed the call's own request, and the error concerns only one that followed it: a
    /// redirect replaced the method (RFC 9110 §15.4.4). The default is `false`.
    package var followsProcessedRequest = false
    /// Whether the service declares that the error does not concern business code.
    var isAbsorbed = false
    /// Whether the body has an unknown content coding or does not match its coding: the same request would get the same
    /// body. The default is `false`, which also applies to a body that is cut off.
    package var isUndecodable = false

    /// An error that a stage, a transport or an endpoint throws with a sentence of its own.
    ///
    /// - Parameters:
    ///   - kind: The kind of the failure.
    ///   - step: The step of the call in which it arose.
    ///   - detail: A description of the failure in one sentence, without secrets.
    ///   - status: The status of the response, if one was received.
    ///   - sending: Whether any of the request reached the wire; with a status it did.
    ///   - underlying: The error that caused this one, if any.
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
    /// The error of a call whose parameters are invalid.
    static func invalidParameters(in step: FlightStep, _ error: any Error) -> NetworkError {
        if let error = error as? NetworkError { return error }
        var underlying = error
        if case EncodingError.invalidValue(_, let context) = error {
            // The value may hold secrets.
            underlying = EncodingError.invalidValue((), context)
        }
        return NetworkError(.invalidParameters, in: step, error.redactedDescription, underlying: underlying)
    }

    /// The error of a call whose response is invalid.
    static func invalidResponse(in step: FlightStep, _ rawData: RawData, _ error: any Error) -> NetworkError {
        if let error = error as? NetworkError { return error }
        // The excerpts in an error of the JSON are redacted as the start of the body is.
        let text = (error as? JSONError)?.description ?? error.redactedDescription
        var located = NetworkError(
            .invalidResponse, in: step, rawData.withStart(text), status: rawData.response.status, underlying: error)
        located.rawData = rawData
        return located
    }

    /// The error of a response whose body could not be read to its end, of a transport that throws errors of its own.
    static func unreadableBody(_ error: any Error) -> NetworkError {
        NetworkError(
            .noNetwork, in: .transporting, "The body of the response could not be read: \(error.redactedDescription).",
            underlying: error)
    }

    /// The error of a call whose task was cancelled.
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

/// An error that a service's envelope names.
///
/// ```swift
/// switch error.serviceError?.code {
/// case "SOLD": "This home is sold."
/// default: error.serviceError?.message ?? "\(error)"
/// }
/// ```
public struct ServiceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The service's code, as text whatever its type in the envelope is.
    public var code: String
    /// The service's message, which may be empty.
    public var message: String

    /// The error of a service by its code and message, for ``Verdict/failed(_:isAbsorbed:)``.
    public init(code: String, message: String = "") {
        self.code = code
        self.message = message
    }

    /// The code, followed by the message if there is one.
    public var description: String { message.isEmpty ? code : "\(code): \(message)" }
}
