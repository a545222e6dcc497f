#if canImport(Darwin)
    import Dispatch
    import Foundation
    import Security

    /// Evaluates servers with public-key pins: the system verifies the chain, and the keys in it are compared with the
    /// pins.
    struct PinnedTrust: Sendable {
        /// The decision on a challenge.
        enum Decision {
            /// The host has no pins that have not expired: only the system decides.
            case system
            case trusted(URLCredential)
            case refused(ServerRefused)
        }

        let pins: [PublicKeyPins]
        let onReport: (@Sendable (PinReport) -> Void)?

        /// Decides on a challenge for server trust.
        ///
        /// The system may look up certificates and revocations over the network for it. The evaluation therefore blocks
        /// a thread of its own, and not the queue of the delegate, on which all calls of a session wait.
        ///
        /// - Parameter decide: Called once, on any thread.
        func evaluate(_ challenge: URLAuthenticationChallenge, then decide: @escaping @Sendable (Decision) -> Void) {
            let host = challenge.protectionSpace.host
            guard let pins = HostPins(host, in: pins, at: .now) else { return decide(.system) }
            if pins.haveExpired {
                onReport?(pins.report(on: []))
                return decide(.system)
            }
            DispatchQueue.global(qos: .userInitiated).async { decide(decision(on: challenge, by: pins)) }
        }

        private func decision(on challenge: URLAuthenticationChallenge, by pins: HostPins) -> Decision {
            // After a failure the system must not decide again: the second time it might trust the server, without
            // pins.
            guard let trust = challenge.protectionSpace.serverTrust, SecTrustEvaluateWithError(trust, nil),
                let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate]
            else { return .refused(ServerRefused(reason: "the system does not trust its certificates")) }
            // The certificates' own encoding: an exported key would lack the identifier of its algorithm.
            let keys = chain.compactMap { PublicKeyPin(certificateDER: Array(SecCertificateCopyData($0) as Data)) }
            let report = pins.report(on: keys)
            onReport?(report)
            return report.outcome == .refused
                ? .refused(ServerRefused(reason: HostPins.refusal)) : .trusted(URLCredential(trust: trust))
        }
    }
#endif
