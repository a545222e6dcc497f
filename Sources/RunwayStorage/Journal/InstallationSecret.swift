import Foundation
import GRDB
import Runway
import RunwayFormats

/// A secret that proves to a server that the records of an installation belong to this file.
///
/// The id of the installation is computed from the secret. The id itself proves nothing, since every batch contains it.
/// The secret is only sent to let the server erase the installation's records without an account.
struct InstallationSecret: Sendable, Equatable {
    /// The 32 random bytes in Base64.
    let text: String
    /// The id of the installation: a UUID of version 8 (RFC 9562 §5.8), made from the start of the bytes' SHA-256.
    let installation: UUID

    /// Creates a random secret.
    init() {
        var generator = SystemRandomNumberGenerator()
        self.init((0..<ErasureRequest.secretByteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    init?(_ text: String) {
        guard let bytes = Data(base64Encoded: text), bytes.count == ErasureRequest.secretByteCount else { return nil }
        self.init(Array(bytes))
    }

    private init(_ bytes: [UInt8]) {
        text = Data(bytes).base64EncodedString()
        // The hash is not protected against side channels. This is safe, since the file stores the secret unencrypted,
        // and no attacker can choose the hashed bytes.
        var hash = SHA256Hash()
        hash.update(bytes)
        installation = ErasureRequest.installation(ofDigest: hash.digest)
    }

    static let settingName = "secret"

    static func read(_ database: Database) throws -> InstallationSecret? {
        try JournalSetting.read(database, settingName).flatMap { InstallationSecret($0.value) }
    }

    /// Stores the secret in place of a previous one.
    func write(to database: Database) throws {
        try JournalSetting(name: Self.settingName, value: text).write(to: database)
    }
}
