import Crypto
import Foundation
public import RunwaySignatures
import SwiftASN1
@_spi(FixedExpiryValidationTime) import X509

/// Verifies evidence of Apple's App Attest. The evidence proves that an unchanged copy of the app, on an Apple device,
/// made the statement of an enrolment.
///
/// For the first enrolment of a device, the evidence is the App Attest service's attestation of a key. For a later
/// enrolment, it can be an assertion by the same key. The counter of each assertion must be greater than the counter of
/// the last one. Attestation and assertion cover the statement, which contains the server's challenge and the new key.
///
/// This package does not contain Apple's root certificate: pass the certificate that Apple publishes.
public struct AppAttestation: DeviceAttestation {
    private let appHash: [UInt8]
    private let roots: [Certificate]
    /// Identifies the attestation service that issues keys.
    private let environment: [UInt8]
    private let devices: any AttestedDeviceStore
    /// A device whose key is used to verify assertions of unknown devices, so that the response time does not reveal
    /// whether a device is known.
    private static let decoy = AttestedDevice(
        id: "", publicKey: Array(P256.Signing.PrivateKey().publicKey.x963Representation), account: "", counter: 0)

    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - appID: The identifier of the app: the team identifier, a full stop, and the bundle identifier.
    ///   - roots: The root certificates in PEM.
    ///   - isInDevelopment: Whether keys come from the attestation service for apps in development. The default is the
    ///     service for apps from the App Store and TestFlight.
    ///   - devices: Stores attested devices. The default, `nil`, stores at most 100,000 in memory, for one server.
    /// - Throws: The error of swift-certificates if a certificate is malformed.
    public init(
        appID: String, roots: [String], isInDevelopment: Bool = false, devices: (any AttestedDeviceStore)? = nil
    ) throws {
        appHash = Array(SHA256.hash(data: Array(appID.utf8)))
        self.roots = try roots.map { try Certificate(pemEncoded: $0) }
        environment =
            isInDevelopment
            ? Array("appattestdevelop".utf8) : Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
        self.devices = devices ?? InMemoryAttestedDevices()
    }

    /// Verifies an attestation or an assertion.
    public func verify(_ evidence: DeviceEvidence, of statement: EnrolmentStatement, at now: UnixTime) async throws {
        let statementHash = Array(SHA256.hash(data: statement.bytes))
        guard let value = CBORValue(evidence.data.payload(of: evidence.format)) else {
            throw EnrolmentRefusal.attestation
        }
        switch evidence.format {
        case DeviceEvidence.appAttest: try await verifyAttestation(value, statementHash, statement.account, at: now)
        case DeviceEvidence.appAttestAssertion:
            let keyID = Base64.encodedForURL(evidence.data.prefix(32))
            try await verifyAssertion(value, by: keyID, statementHash, statement.account)
        default: throw EnrolmentRefusal.attestation
        }
    }

    private func verifyAttestation(
        _ value: CBORValue, _ statementHash: [UInt8], _ account: String, at now: UnixTime
    ) async throws(EnrolmentRefusal) {
        guard value["fmt"] == .text("apple-appattest"), let chain = value["attStmt"]?["x5c"]?.byteStrings,
            let bytes = value["authData"]?.byteString, let data = AuthenticatorData(bytes, hasKey: true),
            let attested = data.attested, data.appHash == appHash, data.counter == 0,
            attested.environment == environment
        else { throw EnrolmentRefusal.attestation }
        let leaf = try await verifiedLeaf(of: chain, at: now)
        let nonce = Array(SHA256.hash(data: bytes + statementHash))
        guard leaf.attestedNonce == nonce, let key = P256.Signing.PublicKey(leaf.publicKey) else {
            throw EnrolmentRefusal.attestation
        }
        let point = Array(key.x963Representation)
        guard Array(SHA256.hash(data: point)) == attested.keyID else { throw EnrolmentRefusal.attestation }
        let device = AttestedDevice(
            id: Base64.encodedForURL(attested.keyID), publicKey: point, account: account, counter: 0)
        let isNew: Bool
        do { isNew = try await devices.insert(device) } catch { throw EnrolmentRefusal.store }
        // A second attestation has another key, so nothing proves that it comes from the known device.
        guard isNew else { throw EnrolmentRefusal.attestation }
    }

    private func verifyAssertion(
        _ value: CBORValue, by keyID: String, _ statementHash: [UInt8], _ account: String
    ) async throws(EnrolmentRefusal) {
        let known: AttestedDevice?
        do { known = try await devices.device(keyID) } catch { throw EnrolmentRefusal.store }
        let device = known ?? Self.decoy
        guard let key = try? P256.Signing.PublicKey(x963Representation: device.publicKey),
            let bytes = value["authenticatorData"]?.byteString, let data = AuthenticatorData(bytes, hasKey: false),
            let encoded = value["signature"]?.byteString,
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: encoded), data.appHash == appHash
        else { throw EnrolmentRefusal.attestation }
        // The nonce is the signed message; ECDSA hashes it again.
        let nonce = Array(SHA256.hash(data: bytes + statementHash))
        let isValid = key.isValidSignature(signature, for: nonce)
        guard isValid, known != nil, device.account.isExactly(account) else { throw EnrolmentRefusal.attestation }
        let isRaised: Bool
        do { isRaised = try await devices.raise(keyID, to: data.counter) } catch { throw EnrolmentRefusal.store }
        guard isRaised else { throw EnrolmentRefusal.attestation }
    }

    /// Returns the leaf certificate if its chain leads to one of the roots.
    private func verifiedLeaf(of chain: [[UInt8]], at now: UnixTime) async throws(EnrolmentRefusal) -> Certificate {
        let certificates = chain.count <= 4 ? chain.compactMap { try? Certificate(derEncoded: $0) } : []
        guard certificates.count == chain.count, let leaf = certificates.first else {
            throw EnrolmentRefusal.attestation
        }
        var verifier = Verifier(rootCertificates: CertificateStore(roots)) {
            RFC5280Policy(fixedExpiryValidationTime: Date(timeIntervalSince1970: Double(now.seconds)))
        }
        let result = await verifier.validate(
            leaf: leaf, intermediates: CertificateStore(certificates.dropFirst()))
        guard case .validCertificate = result else { throw EnrolmentRefusal.attestation }
        return leaf
    }
}

extension [UInt8] {
    /// Returns the CBOR of the evidence. In an assertion, the key identifier precedes the CBOR.
    fileprivate func payload(of format: String) -> [UInt8] {
        format == DeviceEvidence.appAttestAssertion ? Array(dropFirst(32)) : self
    }
}

extension Certificate {
    /// The nonce in Apple's certificate extension: 32 bytes in an OCTET STRING, tagged 1, in a SEQUENCE.
    fileprivate var attestedNonce: [UInt8]? {
        guard let value = extensions[oid: [1, 2, 840, 113_635, 100, 8, 2]]?.value, value.count == 38,
            value.starts(with: [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20])
        else { return nil }
        return Array(value.suffix(32))
    }
}
