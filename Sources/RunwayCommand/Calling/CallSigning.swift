import HTTPTypes
import Runway
import RunwaySignatures
import RunwaySigning

/// The key and the parameters with which `--sign` signs a call.
struct CallSigning: Sendable {
    let policy: SigningPolicy
    let key: RequestKey
    let origin: String

    /// - Throws: ``CommandFailure`` if the key can't be used.
    init(keyFile: String, _ options: SigningOptions, for target: CallTarget) throws(CommandFailure) {
        origin = "\(target.scheme)://\(target.authority)"
        let signer = try options.signer(of: keyFile, at: .current)
        switch options.way {
        case .rfc9421:
            let way =
                options.components.map {
                    SigningWay.signature(tag: options.signatureTag, components: $0.identifiers)
                } ?? .signature(tag: options.signatureTag)
            policy = SigningPolicy(way)
            key = RequestKey(id: signer.id, signer: signer.key)
        case .digest:
            policy = SigningPolicy(.saltedDigest)
            key = RequestKey(id: signer.id, signer: signer.key)
        case .sealed:
            guard let serverKey = try? SealedKey.publicKey(text: try options.serverKeyText()),
                let caller = try? SealedKey.Caller(id: signer.id, text: signer.text),
                let key = try? RequestKey(id: caller.id, secret: caller.secret, by: signer.key.algorithm)
            else {
                throw CommandFailure("--server-key needs a public key for X25519, as PEM or as 32 bytes in Base64.")
            }
            policy = SigningPolicy(.sealedKey(to: serverKey, id: options.serverKeyID ?? ""))
            self.key = key
        }
    }

    var stage: SigningStage { SigningStage(for: CalledServer.self, policy, keys: OneKey(key: key)) }

    private struct OneKey: RequestKeyStore {
        let key: RequestKey

        func key(for owner: KeyOwner) -> RequestKey? { key }
    }
}
