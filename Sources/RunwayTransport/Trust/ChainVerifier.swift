#if Pins
    import Foundation
    import NIOSSL
    import Runway
    import SwiftASN1
    import X509

    /// Verifies the certificates of hosts with pins.
    ///
    /// The verifier searches for a path that is valid and, if pins are enforced, contains a pinned key. If a server's
    /// certificates lead to two roots, one pinned path suffices.
    struct ChainVerifier: Sendable {
        /// The maximum number of a server's certificates that are read. The number of paths grows with each
        /// certificate.
        static let maximumCertificateCount = 6

        private let roots: CertificateStore

        /// - Parameter rootsPEM: The trusted authorities in PEM; `nil` uses the roots of the system.
        /// - Throws: The error of reading the authorities; `NetworkError.Kind.invalidConfiguration` if the roots of the
        ///   system cannot be read.
        init(rootsPEM: String?) throws {
            if let rootsPEM {
                roots = CertificateStore(
                    try PEMDocument.parseMultiple(pemString: rootsPEM).map(Certificate.init(pemDocument:)))
                return
            }
            #if os(Linux)
                roots = .systemTrustRoots
            #else
                throw NetworkError(
                    .invalidConfiguration, in: .transporting,
                    "On this system keys can be pinned only with trusted certificates of your own.")
            #endif
        }

        /// Verifies the certificate chain of a server.
        ///
        /// - Throws: ``TrustRefused`` if there is no valid path, regardless of the pins.
        func verify(
            _ shown: [NIOSSLCertificate], of identity: ServerIdentity, pins: HostPins
        ) async throws(TrustRefused) -> PinReport {
            guard shown.count <= Self.maximumCertificateCount else {
                throw TrustRefused(reason: "it showed \(shown.count) certificates")
            }
            let certificates: [Certificate]
            do {
                certificates = try shown.map { try Certificate(derEncoded: $0.toDERBytes()) }
            } catch {
                throw TrustRefused(reason: "its certificates can't be read")
            }
            guard let leaf = certificates.first else { throw TrustRefused(reason: "it showed no certificate") }
            if let chain = try? await path(from: leaf, through: certificates, to: identity, satisfying: pins.enforced) {
                return pins.report(on: chain)
            }
            // This search without pins shows whether the pins or the certificates are the cause.
            return pins.report(on: try await path(from: leaf, through: certificates, to: identity, satisfying: []))
        }

        /// Returns the keys of a valid path that contains a key of each set.
        private func path(
            from leaf: Certificate, through certificates: [Certificate], to identity: ServerIdentity,
            satisfying sets: [Set<PublicKeyPin>]
        ) async throws(TrustRefused) -> [PublicKeyPin] {
            var verifier = Verifier(rootCertificates: roots) {
                RFC5280Policy()
                WebServerPolicy(identity: identity)
                PinPolicy(sets: sets)
            }
            let result = await verifier.validate(leaf: leaf, intermediates: CertificateStore(certificates.dropFirst()))
            switch result {
            case .validCertificate(let chain): return chain.compactMap(\.pin)
            case .couldNotValidate(let failures):
                // The library's own texts contain whole certificates.
                let reasons = failures.map { "\($0.policyFailureReason)" }
                let own = reasons.first(where: WebServerPolicy.reasons.contains)
                throw TrustRefused(
                    reason: own ?? CertificateFault(of: leaf, among: Array(certificates.dropFirst())).reason)
            }
        }
    }

    extension Certificate {
        fileprivate var pin: PublicKeyPin? {
            var serializer = DER.Serializer()
            guard (try? serializer.serialize(publicKey)) != nil else { return nil }
            return PublicKeyPin(spki: serializer.serializedBytes)
        }
    }

    /// The requirements for a web server's path in addition to RFC 5280. The certificate names the host and is for
    /// servers, authorities may sign, and no signature uses SHA-1.
    private struct WebServerPolicy: VerifierPolicy {
        private static let mayNotSign = "an authority in its chain may not sign certificates"
        private static let isUnreadable = "an extension of its certificates can't be read"
        private static let isWeak = "its chain rests on SHA-1"
        /// The reasons for refusing a path.
        static let reasons: Set<String> = [
            TrustRefused.otherName, TrustRefused.notForServers, mayNotSign, isUnreadable, isWeak,
        ]

        let identity: ServerIdentity
        let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = [
            .X509ExtensionID.subjectAlternativeName, .X509ExtensionID.extendedKeyUsage, .X509ExtensionID.keyUsage,
        ]

        func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
            do {
                let names = try chain.leaf.extensions.subjectAlternativeNames ?? SubjectAlternativeNames()
                let hosts = names.compactMap { name -> ServerIdentity.Name? in
                    switch name {
                    case .dnsName(let name): .dns(name)
                    case .ipAddress(let address): .address(Array(address.bytes))
                    default: nil
                    }
                }
                if !identity.isAmong(hosts) { return .failsToMeetPolicy(reason: TrustRefused.otherName) }
                if let usage = try chain.leaf.extensions.extendedKeyUsage,
                    !usage.contains(.serverAuth), !usage.contains(.any)
                {
                    return .failsToMeetPolicy(reason: TrustRefused.notForServers)
                }
                for authority in chain.dropFirst() {
                    if let usage = try authority.extensions.keyUsage, !usage.keyCertSign {
                        return .failsToMeetPolicy(reason: Self.mayNotSign)
                    }
                }
            } catch {
                return .failsToMeetPolicy(reason: Self.isUnreadable)
            }
            // The root's signature of itself proves nothing and is not verified.
            for certificate in chain.dropLast() where certificate.signatureAlgorithm == .sha1WithRSAEncryption {
                return .failsToMeetPolicy(reason: Self.isWeak)
            }
            return .meetsPolicy
        }
    }

    /// Requires that a path contains a key of each set.
    private struct PinPolicy: VerifierPolicy {
        let sets: [Set<PublicKeyPin>]
        let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = []

        func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
            if sets.isEmpty { return .meetsPolicy }
            let keys = chain.compactMap(\.pin)
            return sets.allSatisfy { !$0.isDisjoint(with: keys) }
                ? .meetsPolicy : .failsToMeetPolicy(reason: HostPins.refusal)
        }
    }
#else
    import NIOSSL
    import Runway

    /// Replaces the verifier if the package trait `Pins` is off. It cannot be created, so creating a transport with
    /// pins throws.
    enum ChainVerifier: Sendable {
        init(rootsPEM: String?) throws {
            throw NetworkError(.invalidConfiguration, in: .transporting, "Public-key pins need the package trait Pins.")
        }

        func verify(
            _ shown: [NIOSSLCertificate], of identity: ServerIdentity, pins: HostPins
        ) async throws(TrustRefused) -> PinReport {
            switch self {}
        }
    }
#endif
