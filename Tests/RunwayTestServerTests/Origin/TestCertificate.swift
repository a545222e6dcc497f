import Crypto
import Foundation
import NIOSSL
import RunwayTestServer
import SwiftASN1
import X509

/// A certificate for `localhost`, signed by itself, made for one run of the tests.
struct TestCertificate {
    let certificatePEM: String
    let privateKeyPEM: String

    init() throws {
        let key = P256.Signing.PrivateKey()
        let signingKey = Certificate.PrivateKey(key)
        let name = try DistinguishedName { CommonName("localhost") }
        let certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: signingKey.publicKey,
            notValidBefore: Date(timeIntervalSinceNow: -3600),
            notValidAfter: Date(timeIntervalSinceNow: 24 * 3600),
            issuer: name,
            subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([.dnsName("localhost")])
            },
            issuerPrivateKey: signingKey
        )
        self.certificatePEM = try certificate.serializeAsPEM().pemString
        self.privateKeyPEM = key.pemRepresentation
    }

    var tls: TLSConfiguration {
        get throws {
            try .makeOriginConfiguration(
                certificateChainPEM: Array(certificatePEM.utf8), privateKeyPEM: Array(privateKeyPEM.utf8))
        }
    }
}
