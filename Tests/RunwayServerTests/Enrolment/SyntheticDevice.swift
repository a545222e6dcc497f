import Crypto
import Foundation
import RunwayServer
import RunwaySigning
import SwiftASN1
import Synchronization
import X509

@testable import RunwaySignatures

/// An authority of App Attest that is not Apple's: a root, an intermediate, and certificates for keys.
struct SyntheticAuthority: Sendable {
    let rootKey = P384.Signing.PrivateKey()
    let intermediateKey = P384.Signing.PrivateKey()
    let root: Certificate
    let intermediate: Certificate
    private let start: Date

    init(at time: UnixTime) throws {
        start = Date(timeIntervalSince1970: Double(time.seconds))
        let rootName = try DistinguishedName { CommonName("Synthetic App Attestation Root") }
        root = try Self.certificate(
            rootName, rootName, .init(rootKey.publicKey), .init(rootKey), start, years: 20,
            try .init {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                Critical(KeyUsage(keyCertSign: true))
            })
        intermediate = try Self.certificate(
            rootName, try DistinguishedName { CommonName("Synthetic App Attestation CA 1") },
            .init(intermediateKey.publicKey), .init(rootKey), start, years: 10,
            try .init {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
            })
    }

    var rootPEM: String { get throws { try root.serializeAsPEM().pemString } }

    /// The chain of a key with a nonce, as DER.
    func chain(_ key: P256.Signing.PublicKey, nonce: [UInt8]) throws -> [[UInt8]] {
        let leaf = try Self.certificate(
            intermediate.subject, try DistinguishedName { CommonName("a key") }, .init(key), .init(intermediateKey),
            start, years: 1,
            try .init {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                Certificate.Extension(
                    oid: [1, 2, 840, 113_635, 100, 8, 2], critical: false,
                    value: [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20][...] + nonce)
            })
        return try [leaf, intermediate].map { certificate in
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            return serializer.serializedBytes
        }
    }

    private static func certificate(
        _ issuer: DistinguishedName, _ subject: DistinguishedName, _ key: Certificate.PublicKey,
        _ issuerKey: Certificate.PrivateKey, _ start: Date, years: Double, _ extensions: Certificate.Extensions
    ) throws -> Certificate {
        try Certificate(
            version: .v3, serialNumber: .init(), publicKey: key, notValidBefore: start.addingTimeInterval(-3_600),
            notValidAfter: start.addingTimeInterval(years * 365 * 86_400), issuer: issuer, subject: subject,
            signatureAlgorithm: .ecdsaWithSHA384, extensions: extensions, issuerPrivateKey: issuerKey)
    }
}

/// A device with a key of the App Attest service. A test changes what it says.
final class SyntheticDevice: DeviceAttestor {
    struct Form: Sendable {
        var appID = "TEAM.com.example.shop"
        var environment = Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
        var format = "apple-appattest"
        var firstCounter: UInt32 = 0
        var certifiesOtherKey = false
        var namesOtherKey = false
        var nonceOfOtherStatement = false
        var hasIntermediate = true
        /// What follows the value.
        var excess: [UInt8] = []
        var asserts = false
    }

    let key = P256.Signing.PrivateKey()
    private let authority: SyntheticAuthority
    private let state: Mutex<(form: Form, counter: UInt32)>

    init(_ authority: SyntheticAuthority, _ form: Form = Form()) {
        self.authority = authority
        state = Mutex((form, 0))
    }

    var keyID: [UInt8] { Array(SHA256.hash(data: key.publicKey.x963Representation)) }

    /// From now on the device makes assertions with this counter and the next ones.
    func assert(from counter: UInt32) {
        state.withLock { state in
            state.form.asserts = true
            state.counter = counter
        }
    }

    func evidence(for statement: [UInt8]) throws -> DeviceEvidence {
        let (form, counter) = state.withLock { state in
            defer { if state.form.asserts { state.counter += 1 } }
            return state
        }
        return form.asserts ? try assertion(statement, form, counter) : try attestation(statement, form)
    }

    private func attestation(_ statement: [UInt8], _ form: Form) throws -> DeviceEvidence {
        var data = Array(SHA256.hash(data: Array(form.appID.utf8))) + [0x40]
        data += withUnsafeBytes(of: form.firstCounter.bigEndian) { Array($0) } + form.environment + [0, 32]
        data += form.namesOtherKey ? [UInt8](repeating: 7, count: 32) : keyID
        let statement = form.nonceOfOtherStatement ? statement + [1] : statement
        let nonce = Array(SHA256.hash(data: data + Array(SHA256.hash(data: statement))))
        let certified = form.certifiesOtherKey ? P256.Signing.PrivateKey().publicKey : key.publicKey
        let chain = try authority.chain(certified, nonce: nonce)
        let value = CBORText.map([
            ("fmt", CBORText.text(form.format)),
            (
                "attStmt",
                CBORText.map([
                    ("x5c", CBORText.array(chain.prefix(form.hasIntermediate ? 2 : 1).map(CBORText.bytes))),
                    ("receipt", CBORText.bytes([1, 2, 3])),
                ])
            ),
            ("authData", CBORText.bytes(data)),
        ])
        return DeviceEvidence(format: DeviceEvidence.appAttest, data: value + form.excess)
    }

    private func assertion(_ statement: [UInt8], _ form: Form, _ counter: UInt32) throws -> DeviceEvidence {
        let data =
            Array(SHA256.hash(data: Array(form.appID.utf8))) + [0x40]
            + withUnsafeBytes(of: counter.bigEndian) { Array($0) }
        let nonce = Array(SHA256.hash(data: data + Array(SHA256.hash(data: statement))))
        let signature = try key.signature(for: nonce).derRepresentation
        let value = CBORText.map([
            ("signature", CBORText.bytes(Array(signature))), ("authenticatorData", CBORText.bytes(data)),
        ])
        return DeviceEvidence(format: DeviceEvidence.appAttestAssertion, data: keyID + value)
    }
}

/// Writes CBOR, as a peer of the reader.
enum CBORText {
    static func head(_ major: UInt8, _ count: Int) -> [UInt8] {
        switch count {
        case 0..<24: [major << 5 | UInt8(count)]
        case 24..<256: [major << 5 | 24, UInt8(count)]
        default: [major << 5 | 25, UInt8(count >> 8), UInt8(count & 0xFF)]
        }
    }

    static func bytes(_ bytes: [UInt8]) -> [UInt8] { head(2, bytes.count) + bytes }
    static func text(_ text: String) -> [UInt8] { head(3, text.utf8.count) + text.utf8 }
    static func array(_ values: [[UInt8]]) -> [UInt8] { head(4, values.count) + values.joined() }
    static func map(_ members: [(String, [UInt8])]) -> [UInt8] {
        head(5, members.count) + members.flatMap { text($0.0) + $0.1 }
    }
}
