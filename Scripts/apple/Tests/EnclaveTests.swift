import AppleFoundation
import Crypto
import CryptoKit
import RunwaySignatures
import RunwaySigning
import Synchronization
import Testing

/// Keys in the Secure Enclave, as far as they are the package's.
@Suite(.serialized)
struct EnclaveTests {
    @Test func keySignsAndIsFoundAgainByItsRepresentation() async throws {
        let maker = try #require(DeviceKeyMaker.secureEnclave)
        let key = try maker.makeKey()
        let again = try maker.key(key.representation)
        #expect(again.publicKey.rawRepresentation == key.publicKey.rawRepresentation)
        let base: [UInt8] = [1, 2, 3]
        let signature = try await P256.Signing.ECDSASignature(rawRepresentation: again.signature(of: base))
        #expect(key.publicKey.isValidSignature(signature, for: base))
        #expect(key.algorithm == .ecdsaP256SHA256)
    }

    @Test func keyOfAnErasedDeviceIsLost() throws {
        let maker = try #require(DeviceKeyMaker.secureEnclave)
        let representation = try maker.makeKey().representation
        FakeEnclave.erase()
        #expect(throws: (any Error).self) { try maker.key(representation) }
    }

    @Test func deviceWithoutAnEnclaveMakesNoKey() throws {
        let maker = try #require(DeviceKeyMaker.secureEnclave)
        FakeEnclave.isAvailable.withLock { $0 = false }
        defer { FakeEnclave.isAvailable.withLock { $0 = true } }
        #expect(DeviceKeyMaker.secureEnclave == nil)
        #expect(throws: (any Error).self) { try maker.makeKey() }
    }
}
