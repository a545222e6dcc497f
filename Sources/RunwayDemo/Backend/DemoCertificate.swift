#if Command
    import Crypto
    package import Foundation
    import NIOCore
    package import NIOSSL
    import SwiftASN1
    import X509

    /// A certificate for the loopback interface, and the authority that signed it. Both have new P-256 keys.
    ///
    /// The authority's key is discarded after signing, so a client that trusts the authority trusts only this server.
    /// The certificate is valid for `localhost`, `127.0.0.1` and `::1`, for 24 hours. Its validity starts an hour ago,
    /// so that clients with a slow clock accept it.
    package struct DemoCertificate: Sendable {
        /// The authority's certificate as PEM. A client has to trust only this certificate.
        package let authorityPEM: String

        package let authorityDER: [UInt8]

        let serverDER: [UInt8]

        /// The pin of the server's key: `sha256/` and the SHA-256 of its `SubjectPublicKeyInfo` in Base64.
        package let serverPin: String

        private let serverKeyPEM: String

        /// Creates an authority and a certificate that are valid at `now`.
        ///
        /// - Throws: The certificate library's error.
        package init(now: Date = Date()) throws {
            let validity = now.addingTimeInterval(-3600)...now.addingTimeInterval(24 * 3600)
            let authorityKey = P256.Signing.PrivateKey()
            let authority = try Self.authority(key: authorityKey, validity: validity)
            let serverKey = P256.Signing.PrivateKey()
            let server = try Self.server(
                publicKey: serverKey.publicKey, issuer: authority.subject, issuerKey: authorityKey, validity: validity)

            self.authorityDER = try Self.serialized(authority)
            self.authorityPEM = PEMDocument(type: "CERTIFICATE", derBytes: authorityDER).pemString
            self.serverDER = try Self.serialized(server)
            let digest = SHA256.hash(data: serverKey.publicKey.derRepresentation)
            self.serverPin = "sha256/" + Data(digest).base64EncodedString()
            self.serverKeyPEM = serverKey.pemRepresentation
        }

        /// Returns the TLS configuration of a server with this certificate. It requires TLS 1.2 or later.
        ///
        /// - Throws: The TLS library's error if it does not accept the certificate or its key.
        package func serverConfiguration() throws -> TLSConfiguration {
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: [.certificate(try NIOSSLCertificate(bytes: serverDER, format: .der))],
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(serverKeyPEM.utf8), format: .pem)))
            configuration.minimumTLSVersion = .tlsv12
            return configuration
        }

        private static func authority(
            key: P256.Signing.PrivateKey, validity: ClosedRange<Date>
        ) throws -> Certificate {
            let name = try DistinguishedName { CommonName("Runway demo authority") }
            return try Certificate(
                version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey),
                notValidBefore: validity.lowerBound, notValidAfter: validity.upperBound,
                issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
                extensions: try .init {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                    Critical(KeyUsage(keyCertSign: true))
                },
                issuerPrivateKey: .init(key))
        }

        private static func server(
            publicKey: P256.Signing.PublicKey, issuer: DistinguishedName, issuerKey: P256.Signing.PrivateKey,
            validity: ClosedRange<Date>
        ) throws -> Certificate {
            try Certificate(
                version: .v3, serialNumber: .init(), publicKey: .init(publicKey),
                notValidBefore: validity.lowerBound, notValidAfter: validity.upperBound,
                issuer: issuer, subject: try DistinguishedName { CommonName("localhost") },
                signatureAlgorithm: .ecdsaWithSHA256,
                extensions: try .init {
                    Critical(BasicConstraints.notCertificateAuthority)
                    Critical(KeyUsage(digitalSignature: true))
                    try ExtendedKeyUsage([.serverAuth])
                    SubjectAlternativeNames([
                        .dnsName("localhost"),
                        .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                        .ipAddress(ASN1OctetString(contentBytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])),
                    ])
                },
                issuerPrivateKey: .init(issuerKey))
        }

        private static func serialized(_ certificate: Certificate) throws -> [UInt8] {
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            return serializer.serializedBytes
        }
    }
#endif
