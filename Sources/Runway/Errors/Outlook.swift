package import HTTPTypes
import RunwayJSON

/// The prospects of a call that failed, if it is made again: the obstacle, the time at which it may have passed, and
/// whether the call may have taken effect already.
///
/// An outlook is made only here. It follows from the kind of the error, its status, whether anything was sent, and what
/// the response says about the `Idempotency-Key` and by `Retry-After`. Retries, the offline queue, the action log,
/// uploads, streams, conversations and token renewals use the outlook, so that they agree.
///
/// A status that asks to come back later (408, 425, 429, 502, 503, 504) counts even if the service reports an error of
/// its own with it, or the body can't be read. Status 501 and 505 are as final as 404.
package struct Outlook: Sendable, Equatable {
    /// The obstacle that has to go before the same call can succeed.
    package enum Obstacle: Sendable, Hashable {
        /// The host was not reached, or no response came. The obstacle passes by itself.
        case connection
        /// The server, or the layer on its behalf, accepts no such request now. The obstacle passes by itself.
        case unavailable
        /// The server failed on the request. The obstacle may pass, or the server may fail on the same request for
        /// ever.
        case fault
        /// The host is not proved to be the requested one, or the portal of a network responded instead of it (RFC 6585
        /// §6). The obstacle passes on another network.
        case untrusted
        /// A login, or another access token, is missing.
        case login
        /// The response can't be read, or is a redirect that can't be followed. The same request usually gets the same
        /// response.
        case unreadable
        /// The subject of the request has changed meanwhile (409, 412).
        case conflict
        /// The server has executed a request with the same `Idempotency-Key`, and does not have the response any more.
        case executed
        /// The server refuses the request for ever.
        case refused
        /// The app asked for something that can't be sent.
        case app
        /// The device could not store or read the data of the call.
        case device
        /// The call was cancelled, stored or forbidden to be sent: its caller decides.
        case ended
    }

    /// The end of an `Idempotency-Key`, as a server states it that repeats its stored response.
    package enum KeyEnd: Sendable {
        /// The server or a gateway failed. It is not known how far the execution came, and the same key never succeeds.
        case failure
        /// The server refused the request.
        case refusal
    }

    /// The obstacle that has to go before the same call can succeed.
    package let obstacle: Obstacle
    /// The time after the failure at which the call can be made again; `nil` if that is not known.
    package let retryAfter: Duration?
    /// Whether the last request of the call may have been carried out. Earlier attempts of the same call are in
    /// its recorder.
    package let mayHaveTakenEffect: Bool
    /// The end of the request's key; `nil` if the response is not a stored one.
    package let keyEnd: KeyEnd?
    /// Whether something was sent, but the service itself did not respond: no response came, or one of a gateway that
    /// does not say when to come back. The request may be the reason why the server fails.
    package let isLost: Bool

    /// Whether the server was not reached, or takes no requests now.
    package var isServerUnavailable: Bool { obstacle == .connection || obstacle == .unavailable }
    /// Whether the server refuses the same request for ever.
    package var isFinal: Bool { [.refused, .conflict, .executed].contains(obstacle) }

    fileprivate init(_ error: NetworkError) {
        let response = error.rawData?.response
        let asksToWait = error.retryAfter != nil || response?.headerFields[.retryAfter] != nil
        let keyProblem = error.idempotencyProblem
        let isReplayed = !error.followsProcessedRequest && response?.isReplayed ?? false
        let status = error.status
        let isOutage = status?.isOutage ?? false
        keyEnd =
            switch status {
            case _ where !isReplayed: nil
            case let status? where status.kind == .serverError || status.isTransient: .failure
            case let status? where status.kind == .clientError: .refusal
            default: error.kind == .service ? .refusal : nil
            }
        obstacle = keyEnd == .failure ? .refused : Self.obstacle(of: error, keyProblem)
        retryAfter = error.retryAfter
        isLost =
            switch obstacle {
            // A failure that says when to try again is known to pass.
            case .connection: error.sending != .notSent && error.retryAfter == nil
            // Gateways respond so, too, when the server behind them crashed, hangs or has reset the connection.
            case .unavailable: isOutage && !asksToWait
            default: false
            }
        mayHaveTakenEffect = error.mayHaveTakenEffect(obstacle, keyProblem)
    }

    private static func obstacle(of error: NetworkError, _ keyProblem: String?) -> Obstacle {
        let obstacle = error.kind.obstacle
        guard obstacle == .refused || obstacle == .unreadable else { return obstacle }
        // A stage of the app has refused without a status, or the service with one that is no failure.
        guard let status = error.status else { return error.kind == .refused ? .fault : obstacle }
        if error.kind == .service { return status.obstacle == .unavailable ? .unavailable : .refused }
        switch status.obstacle {
        // The server still works on an earlier attempt (draft-ietf-httpapi-idempotency-key-header §2.6).
        case .conflict where status == .conflict && error.retryAfter != nil: return .unavailable
        case .conflict where status == .conflict && keyProblem?.hasSuffix("notStored") == true: return .executed
        case .conflict where status == .conflict && keyProblem != nil: return .fault
        // A refusal that says when to come back is for now.
        case .refused where status.kind == .clientError && error.retryAfter != nil: return .unavailable
        case .refused where obstacle == .unreadable: return .unreadable
        case let found: return found
        }
    }
}

extension NetworkError {
    /// The prospects of the same call if it is made again.
    package var outlook: Outlook { Outlook(self) }

    /// Whether the last request of the call may have been carried out.
    fileprivate func mayHaveTakenEffect(_ obstacle: Outlook.Obstacle, _ keyProblem: String?) -> Bool {
        // The server has executed the request, and the error concerns the target of a redirect.
        if followsProcessedRequest { return true }
        if sending == .notSent { return false }
        // A token was missing for another attempt: the error says nothing of the last one.
        if step == .authorizing { return true }
        // Another request with the key may be in progress or have been executed, such as one before a backup was
        // restored, or one in another form (draft-ietf-httpapi-idempotency-key-header §2.7).
        if keyProblem != nil || status == .conflict && retryAfter != nil { return true }
        switch kind.obstacle {
        // Parameters are read before anything is sent.
        case .app: return kind != .invalidParameters
        case .login: return false
        // The handshake comes before the request.
        case .untrusted: return sending == .sent
        case .unreadable: return true
        // A status of 400 to 499 says that the request was not carried out (RFC 9110 §15.5), as do 501 and 505.
        // A service that is down may have been so after it carried out the request.
        case .refused where kind == .service: return status?.isOutage ?? false
        default: return status.map { $0.kind != .clientError && $0.obstacle != .refused } ?? true
        }
    }

    /// The type of a problem with an idempotency key, which is empty if the problem has only a title; `nil` for any
    /// other response.
    ///
    /// A status 409 of such a problem does not say that the change conflicts with another. It says that the same
    /// request is in progress or, if the type ends in `notStored` as that of `RunwayServer`, that the request was
    /// executed and its response is not stored.
    fileprivate var idempotencyProblem: String? {
        guard status == .conflict || status == .unprocessableContent, let rawData,
            rawData.response.headerFields[.contentType]?.contains("problem+json") == true
        else { return nil }
        let type = rawData["type"].string ?? ""
        let text = type + (rawData["title"].string ?? "")
        return text.lowercased().contains("idempoten") ? type : nil
    }
}

extension HTTPResponse.Status {
    /// The obstacle of a request that was responded to with this status, which is no success.
    package var obstacle: Outlook.Obstacle {
        switch code {
        case 401: .login
        case _ where isTransient || code == 429: .unavailable
        case 409, 412: .conflict
        // The server has no such function, in whatever state it is (RFC 9110 §15.6.2, §15.6.6).
        case 501, 505: .refused
        // The portal of a network responded instead of the server.
        case 511: .untrusted
        case 400..<500: .refused
        case 500...: .fault
        default: .unreadable
        }
    }

    /// Whether the same request may be accepted later: ``transientCodes``, 429, and every server error but 501 and 505.
    ///
    /// A retry policy is stricter about server errors, see ``RetryPolicy/statuses``.
    package var mayBeAcceptedLater: Bool { [.unavailable, .fault, .untrusted].contains(obstacle) }

    /// The statuses by which a server or a gateway asks to come back later, beside 429.
    package static let transientCodes: Set<Int> = [408, 425, 502, 503, 504]

    /// Whether the server, or one that it depends on, is down.
    fileprivate var isOutage: Bool { [502, 503, 504].contains(code) }

    fileprivate var isTransient: Bool { Self.transientCodes.contains(code) }

    /// Whether another account, or a login, may get another response: 401 and 403.
    package var concernsAccount: Bool { code == 401 || code == 403 }
}
