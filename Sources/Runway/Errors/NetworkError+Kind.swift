// To add a kind of error, change three files: this one, where the compiler requires a case in `obstacle`; the page of
// errors for apps (Runway.docc/Errors.md); and OutlookTests. Every other part reads `NetworkError.outlook`, as
// ErrorKindTests ensures. The proxy reports a few kinds by their names in RFC 9209 (Refusal.swift), and all others by
// one name.

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

        package static var all: [Kind] { Code.allCases.map(Kind.init) }

        private let code: Code

        private init(_ code: Code) { self.code = code }

        /// The kind in one word. It does not change between releases.
        public var name: String { code.rawValue }

        /// The kind in one word, equal to ``name``.
        public var description: String { name }

        /// The obstacle that a failure of this kind implies; see ``Outlook``. The response's status is not considered
        /// here.
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

        /// The app's configuration is invalid. For example, the environment of a service is unknown, its base URL is
        /// malformed, a list of hosts is invalid, or the pipeline has no judging stage.
        public static let invalidConfiguration = Kind(.invalidConfiguration)
        /// A parameter of the call is invalid. Nothing was sent.
        public static let invalidParameters = Kind(.invalidParameters)
        /// The host could not be reached, or the connection to it was lost.
        public static let noNetwork = Kind(.noNetwork)
        /// No stored response can be used, and the call forbids sending a request: by ``CacheUse/onlyIfCached``, or by
        /// the directive `only-if-cached` (RFC 9111 §5.2.1.7).
        public static let notCached = Kind(.notCached)
        /// The call's deadline passed, or a time limit of the transport passed.
        public static let timedOut = Kind(.timedOut)
        /// The caller cancelled the call, or the task in which the call ran was cancelled.
        public static let cancelled = Kind(.cancelled)
        /// The server did not prove that it is the requested host (TLS certificate or pin), or it refused the client's
        /// certificate.
        public static let notTrusted = Kind(.notTrusted)
        /// The server refused the request; see ``NetworkError/status``.
        public static let refused = Kind(.refused)
        /// The service reports a failure in the envelope of the response, the part that surrounds the data.
        /// ``NetworkError/serviceError`` contains the failure.
        public static let service = Kind(.service)
        /// The user must log in (again) before this call can succeed.
        public static let needsLogin = Kind(.needsLogin)
        /// The user declined to log in, or another account signed in when the call was to be resumed after a login.
        public static let loginCancelled = Kind(.loginCancelled)
        /// The access token is missing or was refused.
        public static let needsAccessToken = Kind(.needsAccessToken)
        /// The response is invalid: truncated, too large, or of an unexpected structure.
        public static let invalidResponse = Kind(.invalidResponse)
        /// The server asks for fewer requests, or the layer refuses the call because the call exceeds a limit.
        public static let overloaded = Kind(.overloaded)
        /// The server keeps failing for this endpoint, so the call was not sent. ``NetworkError/retryAfter`` states
        /// when the next call can be sent. ``CallOptions/bypassesCircuit`` sends a call before that time. If the host
        /// can't be reached, the kind is ``noNetwork`` instead.
        public static let unavailable = Kind(.unavailable)
        /// The device could not store or read data of the call. For example, the disk is full, a file or key can't be
        /// used or has changed, or the stored part of an upload is missing.
        public static let storage = Kind(.storage)
        /// There is no response yet, because the call is stored to be sent later: ``NetworkError/queuedChange``. Use
        /// ``NetworkLayer/submit(_:options:)`` to receive a stored call as a result instead of an error.
        public static let queued = Kind(.queued)
    }
}
