import Crypto
import Foundation
import NIOSSL
import RunwayTestServer
import SwiftASN1
import X509

/// A certificate that signs itself, made for one run of the tests.
struct TestCertificate {
    let certificatePEM: String
    private let privateKeyPEM: String

    /// Makes a certificate for a host; one that is `expired` was valid until an hour ago.
    init(for host: String = "localhost", expired: Bool = false) throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName(host) }
        let end = Date(timeIntervalSinceNow: expired ? -3600 : 24 * 3600)
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: end.addingTimeInterval(-48 * 3600), notValidAfter: end, issuer: name, subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([.dnsName(host)])
            },
            issuerPrivateKey: .init(key))
        certificatePEM = try certificate.serializeAsPEM().pemString
        privateKeyPEM = key.pemRepresentation
    }

    var tls: TLSConfiguration {
        get throws {
            try .makeOriginConfiguration(
                certificateChainPEM: Array(certificatePEM.utf8), privateKeyPEM: Array(privateKeyPEM.utf8))
        }
    }
}
