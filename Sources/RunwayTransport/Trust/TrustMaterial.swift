import Foundation
import NIOSSL
import Runway

/// The certificates and keys of a ``TrustPolicy``. They are read and validated early, so that mistakes are errors of a
/// transport's initializer. ``TLSPolicy`` creates the TLS contexts, which takes longer.
struct TrustMaterial: Sendable {
    let policy: TrustPolicy
    /// Verifies hosts with pins; `nil` if no host has pins.
    let chainVerifier: ChainVerifier?
    let exceptions: [String: DevelopmentTrust]
    /// The policy's own roots; `nil` uses the system's.
    private let roots: [NIOSSLCertificate]?

    static var isReleaseBuild: Bool {
        #if DEBUG
            false
        #else
            true
        #endif
    }

    /// Reads the certificates and keys of a policy.
    ///
    /// - Parameters:
    ///   - policy: The trust policy.
    ///   - isReleaseBuild: Whether to refuse development exceptions.
    /// - Throws: `NetworkError.Kind.invalidConfiguration`.
    init(_ policy: TrustPolicy, isReleaseBuild: Bool = Self.isReleaseBuild) throws(NetworkError) {
        if isReleaseBuild, !policy.allowsExceptionsInReleaseBuilds, let exception = policy.developmentExceptions.first {
            throw NetworkError(
                .invalidConfiguration, in: .transporting,
                "A release build allows no development exception, here for \(exception.host).")
        }
        self.policy = policy
        do {
            var pem: String?
            if case .certificates(let texts) = policy.roots {
                let text = texts.joined(separator: "\n")
                let roots = try NIOSSLCertificate.fromPEMBytes(Array(text.utf8))
                guard !roots.isEmpty else { throw NIOSSLError.failedToLoadCertificate }
                self.roots = roots
                pem = text
            } else {
                roots = nil
            }
            chainVerifier = try policy.pins.isEmpty ? nil : ChainVerifier(rootsPEM: pem)
            exceptions = try policy.developmentExceptions.reduce(into: [:]) {
                $0[$1.host] = try DevelopmentTrust($1.trust)
            }
        } catch let error as NetworkError {
            throw error
        } catch {
            throw NetworkError(
                .invalidConfiguration, in: .transporting, "The trusted certificates can't be read as PEM.",
                underlying: error)
        }
    }

    /// Returns a NIOSSL configuration with the roots and the TLS versions.
    ///
    /// - Parameter folder: The folder from which each root is read when it is needed; `nil` reads all roots.
    func configuration(rootsFrom folder: String?) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = policy.requiresTLS13 ? .tlsv13 : .tlsv12
        if let roots {
            tls.trustRoots = .certificates(roots)
        } else if let folder {
            tls.trustRoots = .file(folder)
        }
        return tls
    }

    /// The folder in which Debian, its derivatives and Alpine store each root under the hash of its name, as OpenSSL
    /// expects. `nil` if the folder does not exist, or the policy has its own roots. Reads the folder.
    var rootsFolder: String? {
        #if os(Linux)
            let folder = "/etc/ssl/certs"
            guard roots == nil, let files = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
                return nil
            }
            let isHashed = files.contains {
                $0.utf8.count == 10 && $0.hasSuffix(".0") && UInt32($0.prefix(8), radix: 16) != nil
            }
            return isHashed ? folder : nil
        #else
            return nil
        #endif
    }
}

/// A development exception with its certificate parsed.
enum DevelopmentTrust: Sendable {
    case certificate(NIOSSLCertificate)
    case anything

    init(_ trust: DevelopmentException.Trust) throws {
        switch trust {
        case .anything: self = .anything
        case .certificate(let pem):
            guard let certificate = try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)).first else {
                throw NIOSSLError.failedToLoadCertificate
            }
            self = .certificate(certificate)
        }
    }

    /// Returns whether the exception trusts a server's certificate chain.
    func accepts(_ chain: [NIOSSLCertificate]) -> Bool {
        switch self {
        case .anything: true
        case .certificate(let certificate): chain.first == certificate
        }
    }
}
