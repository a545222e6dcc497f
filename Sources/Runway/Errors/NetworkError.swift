import Foundation
public import HTTPTypes
import RunwayJSON

/// The one error that Runway's public calls throw and its delegates are told.
///
/// ``kind-swift.property`` says what happened and is what code switches over; ``description`` is one sentence that a
/// person can act on. The rest says where: the step of the call, the request, the host and the attempt. The texts are in
/// English and meant for developers and logs: an app that shows an error to its users writes its own text for the kind.
public struct NetworkError: Error, Sendable {
    /// What happened.
    public var kind: Kind
    /// The step of the call in which the error arose.
    public var step: FlightStep
    /// What was found, in one sentence, without secrets. In errors that calls end in it is one line, whatever the server said.
    ///
    /// Records and logs show it. If an endpoint, validator or reformer of the app throws an error, the detail names only its type
    /// and, of an enum, its case; of a `DecodingError` or `EncodingError` the type and the coding path. To supply a sentence, throw
    /// a `NetworkError`.
    public var detail: String
    /// The error below this one, if another part reported one.
    public var underlying: (any Error)?
    /// The method and URL of the request, secrets redacted; `nil` if none was made yet.
    public var request: String?
    /// The host that the request was for; `nil` if none was known yet.
    public var host: String?
    /// Which attempt failed, counted from 1; 0 if nothing left the app.
    public var attempt = 0
    /// The status of the answer; `nil` if none came.
    public var status: HTTPResponse.Status?
    /// The answer that was refused, where a whole one came. Records never hold it.
    public var answer: RawData?
    /// Whether any of the request reached the wire. The default is ``SendState/unknown``.
    public var sending: SendState
    /// The origin that the error concerns, if a redirect led there; `nil` if it is the origin that the call is for.
    var redirectedOrigin: Origin?
    /// Whether the service says that the error does not concern business code.
    var isAbsorbed = false

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - kind: What happened.
    ///   - step: The step of the call in which it arose.
    ///   - detail: What was found, in one sentence, without secrets.
    ///   - status: The status of the answer, if one came.
    ///   - sending: Whether any of the request reached the wire; with a status it did.
    ///   - underlying: The error below this one, if any.
    public init(
        _ kind: Kind, in step: FlightStep, _ detail: String, status: HTTPResponse.Status? = nil,
        sending: SendState = .unknown, underlying: (any Error)? = nil
    ) {
        self.kind = kind
        self.step = step
        self.detail = detail
        self.status = status
        self.sending = status == nil ? sending : .sent
        self.underlying = underlying
    }
}

extension NetworkError {
    /// What happened, for code to switch over.
    public enum Kind: Sendable, Equatable {
        /// The service's description cannot make a request: an unknown environment, a malformed base URL.
        case invalidConfiguration
        /// A parameter was refused before it left the app.
        case invalidParameters
        /// The host could not be reached, or the connection to it was lost.
        case noNetwork
        /// No stored response can be used, and the call allows nothing to be sent: ``CacheUse/onlyIfCached``, or the directive
        /// `only-if-cached` (RFC 9111 §5.2.1.7).
        case notCached
        /// The call's deadline, or one of the transport's own limits of time, passed.
        case timedOut
        /// The caller, or the task it ran in, cancelled the call.
        case cancelled
        /// The server did not prove that it is the host that was asked for (TLS, pin), or refused the client's own certificate.
        case notTrusted
        /// The server refused the request; ``NetworkError/status`` says how.
        case refused
        /// The service's envelope says that the call failed.
        case service(ServiceError)
        /// The user has to log in (again) before this call can succeed.
        case needsLogin
        /// The user was asked to log in and declined.
        case loginCancelled
        /// The access token is missing or was refused.
        case needsAccessToken
        /// An answer came that is not what it should be: truncated, too large, of another shape.
        case invalidAnswer
        /// The server, or the layer on its behalf, asks for fewer requests.
        case overloaded
        /// The device's storage failed.
        case storage
    }

    /// The error of parameters that someone refused.
    static func invalidParameters(in step: FlightStep, _ error: any Error) -> NetworkError {
        if let error = error as? NetworkError { return error }
        var underlying = error
        if case EncodingError.invalidValue(_, let context) = error {
            // The value may hold secrets.
            underlying = EncodingError.invalidValue((), context)
        }
        return NetworkError(.invalidParameters, in: step, error.safeText, underlying: underlying)
    }

    /// The error of an answer that someone refused.
    static func invalidAnswer(in step: FlightStep, _ rawData: RawData, _ error: any Error) -> NetworkError {
        if let error = error as? NetworkError { return error }
        // The excerpts in an error of the JSON are redacted as the start of the body is.
        let text = (error as? JSONError)?.description ?? error.safeText
        var located = NetworkError(
            .invalidAnswer, in: step, rawData.withStart(text), status: rawData.response.status, underlying: error)
        located.answer = rawData
        return located
    }

    /// The error of a response whose body could not be read to its end, of a transport that throws errors of its own.
    static func unreadableBody(_ error: any Error) -> NetworkError {
        NetworkError(
            .noNetwork, in: .transporting, "The body of the response could not be read: \(error.safeText).",
            underlying: error)
    }

    /// What went wrong with a call that is over because its task was cancelled.
    static func cancelled(in step: FlightStep) -> NetworkError {
        NetworkError(.cancelled, in: step, "The call was cancelled.")
    }
}

extension NetworkError: CustomStringConvertible, DescribedError {
    /// One sentence that says what happened, where, and to which request.
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
public struct ServiceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The service's own code, as text whatever its type was.
    public var code: String
    /// The service's own message, which may be empty.
    public var message: String

    /// Makes a service error.
    public init(code: String, message: String = "") {
        self.code = code
        self.message = message
    }

    /// The code and, where there is one, the message.
    public var description: String { message.isEmpty ? code : "\(code): \(message)" }
}
