import NIOCore
import NIOPosix
import NIOSSL
import Runway

/// The reason why no connection to a host was established. No part of any request was sent.
struct DialError: DescribedError {
    enum Cause: Sendable {
        /// The host of the origin cannot be dialled, for the given reason.
        case unusableOrigin(String)
        /// Every address failed.
        case failed
        /// The deadline passed.
        case timedOut
        case cancelled
    }

    /// The error of connecting to one address.
    struct Failure: Sendable {
        var address: SocketAddress
        var error: any Error
    }

    var cause: Cause
    /// The error of looking up the host's name; `nil` if no lookup failed.
    var lookupError: (any Error)?
    /// The errors of the attempted addresses, in the order of failure.
    var failures: [Failure] = []

    var description: String { NetworkError(transport: self, from: nil).detail }

    /// Returns the kind and the sentence of the error that is shown to the caller.
    func meaning(_ place: String) -> (NetworkError.Kind, String) {
        switch cause {
        case .unusableOrigin(let reason): return (.invalidConfiguration, "\(place) can't be dialled: \(reason).")
        case .cancelled: return (.cancelled, "The connection to \(place) was not needed any more.")
        case .timedOut where failures.isEmpty && lookupError == nil:
            return (.timedOut, "No connection to \(place) could be made in time.")
        case .failed, .timedOut: break
        }
        // An error of setting up TLS on this device does not depend on the address, so it takes precedence.
        let mistake = failures.lazy.compactMap { $0.error as? NetworkError }.first
        if let mistake { return (mistake.kind, mistake.detail) }
        // The error of an untrusted address takes precedence over the error of an unreachable one, since a retry would
        // not help.
        let meanings = failures.map { NetworkError(transport: $0.error, from: place) }
        let distrusts = zip(failures, meanings).filter { $0.1.kind == .notTrusted }
        if distrusts.count == 1, failures.count == 1 { return (.notTrusted, distrusts[0].1.detail) }
        var reasons = zip(failures, meanings).map { failure, meaning in
            let address = failure.address.ipAddress ?? "\(failure.address)"
            return
                "\(address): \(meaning.kind == .notTrusted ? meaning.detail : NetworkError.reason(of: failure.error))"
        }
        if let lookupError {
            reasons.append("its name could not be looked up (\(NetworkError.reason(of: lookupError)))")
        }
        let kind: NetworkError.Kind = if case .timedOut = cause { .timedOut } else { .noNetwork }
        let text = "No connection to \(place) could be made\(kind == .timedOut ? " in time" : "")"
        let detail = reasons.isEmpty ? "\(text)." : "\(text): \(reasons.joined(separator: "; "))"
        return (distrusts.isEmpty ? kind : .notTrusted, detail.hasSuffix(".") ? detail : detail + ".")
    }
}
