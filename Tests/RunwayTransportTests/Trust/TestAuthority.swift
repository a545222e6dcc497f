import Crypto
import Foundation
import SwiftASN1
import X509

/// A certificate authority made for one run of the tests, root or intermediate, and what it signs.
struct TestAuthority {
    let certificate: Certificate
    private let key: P256.Signing.PrivateKey
    /// What a server shows after its own certificate.
    private let intermediates: [Certificate]

    /// A root.
    init(_ name: String = "root") throws {
        let key = P256.Signing.PrivateKey()
        certificate = try Self.sign(
            name, key, by: nil,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                Critical(KeyUsage(keyCertSign: true))
            })
        self.key = key
        intermediates = []
    }

    private init(_ certificate: Certificate, _ key: P256.Signing.PrivateKey, _ intermediates: [Certificate]) {
        (self.certificate, self.key, self.intermediates) = (certificate, key, intermediates)
    }

    /// An authority below this one; one that is `fake` may not sign, and `permitted` restricts the names that it may sign for.
    func intermediate(
        fake: Bool = false, permitted: String? = nil, days: ClosedRange<Double> = -1...1
    ) throws -> TestAuthority {
        let key = P256.Signing.PrivateKey()
        let certificate = try Self.sign(
            "intermediate", key, by: self, days: days,
            extensions: Certificate.Extensions {
                fake
                    ? Critical(BasicConstraints.notCertificateAuthority)
                    : Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                if let permitted {
                    Critical(NameConstraints(permittedSubtrees: [.dnsName(permitted)]))
                }
            })
        return TestAuthority(certificate, key, [certificate] + intermediates)
    }

    var pem: String { get throws { try certificate.serializeAsPEM().pemString } }
    var der: [UInt8] { get throws { try certificate.serializeAsPEM().derBytes } }

    /// What a server has: its chain and its key.
    struct Server {
        let chain: [Certificate]
        let key: P256.Signing.PrivateKey

        var chainPEM: String {
            get throws { try chain.map { try $0.serializeAsPEM().pemString }.joined(separator: "\n") }
        }
        var keyPEM: String { key.pemRepresentation }
        var leafPEM: String { get throws { try chain[0].serializeAsPEM().pemString } }
        var leafDER: [UInt8] { get throws { try chain[0].serializeAsPEM().derBytes } }
        var chainDER: [[UInt8]] { get throws { try chain.map { try $0.serializeAsPEM().derBytes } } }
    }

    /// A certificate of a server.
    ///
    /// - Parameters:
    ///   - host: The host in its common name and, unless `names` says otherwise, in its subject alternative names.
    ///   - days: From when until when it is valid, counted from now.
    func server(
        _ host: String = "localhost", names: [GeneralName]? = nil, days: ClosedRange<Double> = -1...1,
        key: P256.Signing.PrivateKey = P256.Signing.PrivateKey(), usage: ExtendedKeyUsage.Usage = .serverAuth
    ) throws -> Server {
        let names = names ?? [.dnsName(host)]
        let certificate = try Self.sign(
            host, key, by: self, days: days,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                try ExtendedKeyUsage([usage])
                if !names.isEmpty { SubjectAlternativeNames(names) }
            })
        return Server(chain: [certificate] + intermediates, key: key)
    }

    /// A certificate that nobody but itself vouches for.
    static func selfSigned(_ host: String = "localhost") throws -> Server {
        let key = P256.Signing.PrivateKey()
        let certificate = try sign(
            host, key, by: nil,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                SubjectAlternativeNames([.dnsName(host)])
            })
        return Server(chain: [certificate], key: key)
    }

    private static func sign(
        _ name: String, _ key: P256.Signing.PrivateKey, by authority: TestAuthority?,
        days: ClosedRange<Double> = -1...1, extensions: Certificate.Extensions
    ) throws -> Certificate {
        let subject = try DistinguishedName { CommonName(name) }
        return try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: Date(timeIntervalSinceNow: days.lowerBound * 86_400),
            notValidAfter: Date(timeIntervalSinceNow: days.upperBound * 86_400),
            issuer: authority?.certificate.subject ?? subject, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: extensions, issuerPrivateKey: .init(authority?.key ?? key))
    }
}
