import Foundation
import NIOSSL
import Testing
import X509

@testable import Runway

/// The public key is read out of a certificate as it is there, whatever its kind.
struct CertificateKeyTests {
    /// Signs a certificate with a new key, and returns its DER and, as OpenSSL writes it, its key.
    private func certificate(_ algorithm: [String]) async throws -> (der: [UInt8], spki: [UInt8]) {
        let script = """
            openssl req -x509 -newkey "$@" -nodes -keyout /dev/null -subj "/O=Hübsch/CN=localhost" -utf8 -days 1 \
              -addext subjectAltName=DNS:localhost 2>/dev/null
            """
        let pem = try await Tool.run("/bin/sh", ["-c", script, "sh"] + algorithm, [])
        return try await (
            Tool.run("/usr/bin/openssl", ["x509", "-outform", "der"], pem),
            Tool.run(
                "/bin/sh", ["-c", "openssl x509 -pubkey -noout | openssl pkey -pubin -pubout -outform der"], pem)
        )
    }

    @Test(arguments: [
        ["rsa:2048"], ["rsa:3072"], ["rsa:4096"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
        ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-521"], ["ed25519"],
    ])
    func keyIsThatWhichOpenSSLReads(algorithm: [String]) async throws {
        let (der, spki) = try await certificate(algorithm)
        #expect(CertificateKey(certificateDER: der).map { Array($0.spki) } == spki)
        #expect(PublicKeyPin(certificateDER: der) == PublicKeyPin(spki: spki))
    }

    /// Old roots among them, of version 1 and with other kinds of names.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/etc/ssl/certs/ca-certificates.crt")))
    func keysOfAllSystemRootsAreRead() throws {
        let roots = try NIOSSLCertificate.fromPEMFile("/etc/ssl/certs/ca-certificates.crt")
        #expect(roots.count > 50)
        for root in roots {
            let spki = try root.extractPublicKey().toSPKIBytes()
            #expect(try CertificateKey(certificateDER: root.toDERBytes()).map { Array($0.spki) } == spki)
        }
    }

    @Test func certificateThatIsNotWholeHasNoKey() throws {
        let der = try TestAuthority().server().leafDER
        #expect(CertificateKey(certificateDER: der) != nil)
        for count in 0..<der.count { #expect(CertificateKey(certificateDER: Array(der[..<count])) == nil) }
        #expect(CertificateKey(certificateDER: der + [0]) == nil)
    }

    /// Whatever is changed, a key that is read is within the certificate.
    @Test func changedCertificatesAreReadSafely() throws {
        let der = try TestAuthority().server().leafDER
        for index in der.indices {
            for bit in 0..<8 {
                var changed = der
                changed[index] ^= 1 << bit
                if let key = CertificateKey(certificateDER: changed) { #expect(changed.contains(key.spki)) }
            }
        }
    }

    private static let name: [UInt8] = [0x30, 0]
    private static let key: [UInt8] = [0x30, 9, 0x30, 3, 0x06, 1, 0x2A, 0x03, 2, 0, 1]

    /// A certificate of which only the structure is one, with a key.
    private static func certificate(
        key: [UInt8] = key, number: [UInt8] = [0x02, 1, 1], version: [UInt8] = [0xA0, 3, 0x02, 1, 2]
    ) -> [UInt8] {
        let fields = version + number + name + name + name + name + key
        let parts = [0x30, UInt8(fields.count)] + fields + name + [0x03, 1, 0]
        return [0x30, UInt8(parts.count)] + parts
    }

    @Test func versionMayBeAbsent() throws {
        for version in [[], [0xA0, 3, 0x02, 1, 2]] as [[UInt8]] {
            let key = try #require(CertificateKey(certificateDER: Self.certificate(version: version)))
            #expect(Array(key.spki) == Self.key)
        }
    }

    private static let malformed: [[UInt8]] = [
        // An indefinite length, lengths that are longer than needed, and some beyond the end.
        [0x30, 0x80] + key.dropFirst(2) + [0, 0], [0x30, 0x81] + key.dropFirst(), [0x30, 0x82, 0] + key.dropFirst(),
        [0x30, 10] + key.dropFirst(2), [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF] + key.dropFirst(2),
        [0x30, 0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF] + key.dropFirst(2),
        // Without an algorithm, without bits, with more than bits, and absent.
        [0x30, 4, 0x03, 2, 0, 1], [0x30, 8, 0x30, 3, 0x06, 1, 0x2A, 0x03, 1, 0],
        [0x30, 9, 0x30, 3, 0x02, 1, 0x2A, 0x03, 2, 0, 1], [0x30, 11] + key.dropFirst(2) + [0x30, 0], [],
    ]

    @Test(arguments: malformed) func malformedKeyIsNotRead(key: [UInt8]) {
        #expect(CertificateKey(certificateDER: Self.certificate(key: key)) == nil)
    }

    @Test func malformedCertificateHasNoKey() {
        let version: [UInt8] = [0xA0, 3, 0x02, 1, 2]
        let certificates: [[UInt8]] = [
            Self.certificate(number: [0x04, 1, 1]), Self.certificate(version: version + version), [], [0x30],
            [0x30, 0],
            [0x31] + Self.certificate().dropFirst(),
        ]
        for der in certificates { #expect(CertificateKey(certificateDER: der) == nil) }
    }

    @Test(arguments: [
        "", "no certificate", "-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\nAA",
        "-----END CERTIFICATE-----\n-----BEGIN CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n",
    ])
    func textWithoutACertificateHasNoPin(pem: String) throws {
        let error = #expect(throws: NetworkError.self) { try PublicKeyPin(certificatePEM: pem) }
        #expect(error?.kind == .invalidConfiguration)
    }

    @Test func firstCertificateOfATextIsPinned() throws {
        let server = try TestAuthority().intermediate().server()
        let pin = try PublicKeyPin(certificateDER: server.leafDER)
        #expect(try PublicKeyPin(certificatePEM: "Some text.\r\n" + server.chainPEM) == pin)
        #expect(try PublicKeyPin(certificatePEM: server.leafPEM.replacing("\n", with: "\r\n")) == pin)
    }
}
