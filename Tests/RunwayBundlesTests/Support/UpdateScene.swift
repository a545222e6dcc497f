import Crypto
import Foundation
import RunwaySignatures
import RunwayTUF
import Synchronization
import Testing

@testable import RunwayBundles

/// A repository in memory and a client's folder on disk.
final class UpdateScene: Sendable {
    static let now = UnixTime(seconds: 1_780_315_200)

    let folder: MetadataFolder
    private let offline = Curve25519.Signing.PrivateKey()
    private let root: [UInt8]

    private struct State {
        var online: Curve25519.Signing.PrivateKey
        var rootVersion: Int64 = 1
        var files: [String: [UInt8]] = [:]
        var requests: [String] = []
    }

    /// Guards the files of the repository, and the names that were requested.
    private let state: Mutex<State>

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "UpdateScene.\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        folder = MetadataFolder(url)
        let online = Curve25519.Signing.PrivateKey()
        state = Mutex(State(online: online))
        root = try Self.root(1, offline, online)
    }

    deinit { try? FileManager.default.removeItem(at: folder.url) }

    func updater(_ limits: UpdateLimits = UpdateLimits()) -> MetadataUpdater {
        MetadataUpdater(folder, embeddedRoot: root, limits: limits, fetch: fetch)
    }

    var fetch: MetadataUpdater.Fetch {
        { name, _ in
            self.state.withLock { state in
                state.requests.append(name)
                return state.files[name]
            }
        }
    }

    /// Returns the names that were requested since the last call.
    func takeRequests() -> [String] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    /// Replaces a file of the repository, and returns the former one.
    func replace(_ name: String, with bytes: [UInt8]?) -> [UInt8]? {
        state.withLock { state in
            defer { state.files[name] = bytes }
            return state.files[name]
        }
    }

    /// The versions of the files in the client's folder.
    var storedVersions: [String: Int64] {
        var versions: [String: Int64] = [:]
        for role in ["root", "timestamp", "snapshot", "targets"] {
            guard let bytes = folder.read(role, upTo: 1 << 20),
                let document = try? SignedDocument(bytes, maximumByteCount: 1 << 20),
                case .integer(let version)? = document.signed["version"]
            else { continue }
            versions[role] = version
        }
        return versions
    }

    /// Publishes a version of all roles with one target.
    func publish(version: Int64, expires: UnixTime = UnixTime(seconds: 1_893_456_000)) throws {
        try state.withLock { state in
            func signed(_ type: String, _ members: CanonicalObject, _ key: Curve25519.Signing.PrivateKey) throws
                -> [UInt8]
            {
                try Self.document(type, version, expires, members, key)
            }
            let path = "pages/shop.html"
            let target = TargetFile(path: path, digest: FileDigest(of: Array("v\(version)".utf8)))
            let targets = try signed("targets", ["targets": .object([path: .object(target.object)])], offline)
            func listing(_ name: String, _ bytes: [UInt8]) -> CanonicalObject {
                ["meta": .object([name: .object(MetadataFile(version: version, digest: FileDigest(of: bytes)).object)])]
            }
            let snapshot = try signed("snapshot", listing("targets.json", targets), state.online)
            state.files["timestamp.json"] = try signed("timestamp", listing("snapshot.json", snapshot), state.online)
            state.files["\(version).snapshot.json"] = snapshot
            state.files["\(version).targets.json"] = targets
        }
    }

    /// Publishes a root with new keys of timestamp and snapshot.
    func rotateOnlineKeys() throws {
        try state.withLock { state in
            state.online = Curve25519.Signing.PrivateKey()
            state.rootVersion += 1
            state.files["\(state.rootVersion).root.json"] = try Self.root(state.rootVersion, offline, state.online)
        }
    }

    private static func root(
        _ version: Int64, _ offline: Curve25519.Signing.PrivateKey, _ online: Curve25519.Signing.PrivateKey
    ) throws -> [UInt8] {
        let (first, second) = (MetadataKey(offline.publicKey), MetadataKey(online.publicKey))
        func role(_ key: MetadataKey) -> CanonicalValue {
            .object(["keyids": .array([.string(key.id)]), "threshold": .integer(1)])
        }
        let members: CanonicalObject = [
            "consistent_snapshot": .bool(true),
            "keys": .object([first.id: .object(first.object), second.id: .object(second.object)]),
            "roles": .object([
                "root": role(first), "targets": role(first), "timestamp": role(second), "snapshot": role(second),
            ]),
        ]
        return try document("root", version, UnixTime(seconds: 1_893_456_000), members, offline)
    }

    private static func document(
        _ type: String, _ version: Int64, _ expires: UnixTime, _ members: CanonicalObject,
        _ key: Curve25519.Signing.PrivateKey
    ) throws -> [UInt8] {
        var signed = members
        signed["_type"] = .string(type)
        signed["spec_version"] = "1.0.31"
        signed["version"] = .integer(version)
        signed["expires"] = .string(expires.metadataText)
        let signature = try key.signature(for: CanonicalValue.object(signed).canonicalBytes)
        let id = MetadataKey(key.publicKey).id
        return SignedDocument(signed: signed, signatures: [.init(keyID: id, bytes: Array(signature))]).bytes
    }
}
