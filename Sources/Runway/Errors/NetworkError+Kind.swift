// A new kind of error is decided in three files: this one, where the compiler asks for its obstacle; the page of errors for apps
// (Runway.docc/Errors.md); and OutlookTests. Every other part asks `NetworkError.outlook`, which ErrorKindTests holds. The proxy
// reports a few kinds by names of RFC 9209 (Refusal.swift), and all others by one.

extension NetworkError {
    /// The kind of a failure, for code to switch over.
    ///
    /// A switch needs a `default`, since later versions may add kinds:
    ///
    /// ```swift
    /// switch error.kind {
    /// case .noNetwork, .timedOut: return "Check your connection."
    /// case .service: return error.serviceError?.message ?? ""
    /// default: return "Something went wrong."
    /// }
    /// ```
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        private enum Code: String, CaseIterable {
            case invalidConfiguration, invalidParameters, noNetwork, notCached, timedOut, cancelled, notTrusted
            case refused, service, needsLogin, loginCancelled, needsAccessToken, invalidResponse, overloaded
            case unavailable, storage, queued
        }

        /// All kinds.
        package static var all: [Kind] { Code.allCases.map(Kind.init) }

        private let code: Code

        private init(_ code: Code) { self.code = code }

        /// The kind in one word, which stays the same from release to release.
        public var name: String { code.rawValue }

        /// The kind in one word.
        public var description: String { name }

        /// The obstacle of a call that ended with this kind, before its status is considered.
        package var obstacle: Outlook.Obstacle {
            switch code {
            case .noNetwork, .timedOut: .connection
            case .overloaded, .unavailable: .unavailable
            case .notTrusted: .untrusted
            case .needsLogin, .needsAccessToken: .login
            case .refused, .service: .refused
            case .invalidResponse: .unreadable
            case .invalidConfiguration, .invalidParameters: .app
            case .storage: .device
            case .cancelled, .loginCancelled, .notCached, .queued: .ended
            }
        }

        /// The app describes something invalid: a service whose environment is unknown or whose base URL is malformed,
        /// a pipeline that judges no response, a list of hosts.
        public static let invalidConfiguration = Kind(.invalidConfiguration)
        /// A parameter is invalid. Nothing was sent.
        public static let invalidParameters = Kind(.invalidParameters)
        /// The host could not be reached, or the connection to it was lost.
        public static let noNetwork = Kind(.noNetwork)
        /// No stored response can be used, and the call allows nothing to be sent: ``CacheUse/onlyIfCached``, or the
        /// directive `only-if-cached` (RFC 9111 §5.2.1.7).
        public static let notCached = Kind(.notCached)
        /// The call's deadline, or one of the transport's own time limits, passed.
        public static let timedOut = Kind(.timedOut)
        /// The caller cancelled the call, or the task it ran in was cancelled.
        public static let cancelled = Kind(.cancelled)
        /// The server did not prove that it is the requested host (TLS, pin), or it refused the client's certificate.
        public static let notTrusted = Kind(.notTrusted)
        /// The server refused the request; see ``NetworkError/status``.
        public static let refused = Kind(.refused)
        /// The service's envelope reports a failure; ``NetworkError/serviceError`` is the error that it names.
        public static let service = Kind(.service)
        /// The user has to log in (again) before this call can succeed.
        public static let needsLogin = Kind(.needsLogin)
        /// The user was asked to log in and declined, or the call was to be resumed after a login and another account
        /// signed in.
        public static let loginCancelled = Kind(.loginCancelled)
        /// The access token is missing or was refused.
        public static let needsAccessToken = Kind(.needsAccessToken)
        /// The response is invalid: truncated, too large, or of another shape than expected.
        public static let invalidResponse = Kind(.invalidResponse)
        /// The server, or the layer on its behalf, asks for fewer requests.
        public static let overloaded = Kind(.overloaded)
        /// The server keeps failing for this endpoint, so that the call was not sent. ``NetworkError/retryAfter`` says
        /// when the next call can be sent, and ``CallOptions/bypassesCircuit`` sends a call before that. If the host
        /// can't be reached, the kind is ``noNetwork``.
        public static let unavailable = Kind(.unavailable)
        /// The device could not store or read the data of the call: the disk is full, a file or a key can't be used or
        /// has changed, or the stored part of an upload is gone.
        public static let storage = Kind(.storage)
        /// There is no response to return, since the call is stored, and is sent when that is possible:
        /// ``NetworkError/queuedChange``. ``NetworkLayer/submit(_:options:)`` returns that as an outcome.
        public static let queued = Kind(.queued)
    }
}
