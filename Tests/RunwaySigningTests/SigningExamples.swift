import RunwaySignatures
import Testing

@testable import Runway
@testable import RunwaySigning

/// A key that a device holds after it was enrolled.
struct EnrolledKey: MessageSigner {
    let id: String
    let algorithm = SignatureAlgorithm.ecdsaP256SHA256
    func signature(of base: [UInt8]) async throws -> [UInt8] { [] }
}

struct Enrolment {
    func key(of account: String) async throws -> EnrolledKey? { EnrolledKey(id: account) }
}

struct ShopKeys: RequestKeyStore {
    let enrolment: Enrolment

    func key(for owner: KeyOwner) async throws -> RequestKey? {
        guard let account = owner.account else { return nil }
        return try await enrolment.key(of: account).map { RequestKey(id: $0.id, signer: $0) }
    }
}

/// The examples of the documentation.
struct SigningExamples {
    private let deviceKeys = ShopKeys(enrolment: Enrolment())

    @Test func aStageIsInsertedAtItsPlace() {
        var pipeline = RequestPipeline()
        let policy = SigningPolicy(.signature(tag: "shop-app"))
        pipeline.insert(SigningStage(for: Shop.self, policy, keys: deviceKeys), before: .signing)
        #expect(pipeline.steps.suffix(2) == [.signing, .judging])
    }

    @Test func anOwnerWithoutAccountHasNoKey() async throws {
        let anonymous = KeyOwner(service: "shop", environment: .release, account: nil)
        #expect(try await deviceKeys.key(for: anonymous) == nil)
        let anna = KeyOwner(service: "shop", environment: .release, account: "anna")
        #expect(try await deviceKeys.key(for: anna)?.id == "anna")
    }

    /// The example of `docs/signing.md`.
    private func makeLayer(_ transport: any Transport, _ serverKey: KeyRecord) -> NetworkLayer {
        var policy = SigningPolicy(.signature(tag: "shop-app"))
        policy.responses = ResponseSignatures(tag: "shop-server", keys: InMemoryKeyDirectory([serverKey]))

        var pipeline = RequestPipeline()
        pipeline.insert(SigningStage(for: Shop.self, policy, keys: deviceKeys), before: .signing)
        let network = NetworkLayer(transport: transport, pipeline: pipeline)
        return network
    }
}
