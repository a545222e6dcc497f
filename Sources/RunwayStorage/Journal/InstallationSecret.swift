import Foundation
import GRDB
import Runway
import RunwayFormats

/// Proves to a server that the records of an installation are those of this file.
///
/// The id of the installation is computed from the secret. The id proves nothing, since it is in every batch. The
/// secret is sent only to let the server erase the records without an account that have this id.
struct InstallationSecret: Sendable, Equatable {
    /// The 32 random bytes in Base64, as they are stored and sent.
    let text: String
    /// The id: the start of the SHA-256 of the bytes, with version and variant of a UUID of version 8 in place of six
    /// bits (RFC 9562 §5.8).
    let installation: UUID

    /// Creates another secret.
    init() {
        var generator = SystemRandomNumberGenerator()
        self.init((0..<ErasureRequest.secretByteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// Reads a secret; `nil` if the text is malformed.
    init?(_ text: String) {
        guard let bytes = Data(base64Encoded: text), bytes.count == ErasureRequest.secretByteCount else { return nil }
        self.init(Array(bytes))
    }

    private init(_ bytes: [UInt8]) {
        text = Data(bytes).base64EncodedString()
        // This hash is not protected against side channels. It need not be: the secret is stored in the file in clear,
        // and no attacker can choose the hashed bytes.
        var hash = SHA256Hash()
        hash.update(bytes)
        installation = ErasureRequest.installation(ofDigest: hash.digest)
    }

    /// The name of the setting that has the secret.
    static let settingName = "secret"

    /// Reads the secret of a file; `nil` if the file has none.
    static func read(_ database: Database) throws -> InstallationSecret? {
        try JournalSetting.read(database, settingName).flatMap { InstallationSecret($0.value) }
    }

    /// Stores the secret, in place of a former one.
    func write(to database: Database) throws {
        try JournalSetting(name: Self.settingName, value: text).write(to: database)
    }
}
