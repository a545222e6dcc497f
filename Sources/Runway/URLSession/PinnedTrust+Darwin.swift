#if canImport(Darwin)
    import Dispatch
    import Foundation
    import Security

    /// Evaluates servers with public-key pins. The system verifies the chain, and then its keys are compared with the
    /// pins.
    struct PinnedTrust: Sendable {
        enum Decision {
            /// The host has no unexpired pins, so only the system decides.
            case system
            case trusted(URLCredential)
            case refused(ServerRefused)
        }

        let pins: [PublicKeyPins]
        let onReport: (@Sendable (PinReport) -> Void)?

        /// Decides on a challenge for server trust.
        ///
        /// For this, the system may look up certificates and revocations over the network. The evaluation therefore
        /// blocks a thread of its own, not the delegate's queue, on which all calls of a session wait.
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
            // After a failure the system must not decide again, because it might then trust the server without pins.
            guard let trust = challenge.protectionSpace.serverTrust, SecTrustEvaluateWithError(trust, nil),
                let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate]
            else { return .refused(ServerRefused(reason: "the system does not trust its certificates")) }
            // The certificate's own encoding is used, because an exported key lacks the identifier of its algorithm.
            let keys = chain.compactMap { PublicKeyPin(certificateDER: Array(SecCertificateCopyData($0) as Data)) }
            let report = pins.report(on: keys)
            onReport?(report)
            return report.outcome == .refused
                ? .refused(ServerRefused(reason: HostPins.refusal)) : .trusted(URLCredential(trust: trust))
        }
    }
#endif
