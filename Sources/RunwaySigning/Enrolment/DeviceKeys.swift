import Foundation
public import Runway
import RunwaySignatures
import Synchronization

/// The keys of this device, one for each account. A ``DeviceEnrolment`` enrols a key at the server after login.
///
/// ```swift
/// let keys = DeviceKeys(in: FileTokenStore(folder: folder))
/// pipeline.insert(SigningStage(for: Shop.self, policy, keys: keys), before: .signing)
/// ```
///
/// Keys are stored like access tokens: in a `FileTokenStore`, whose files only the user can read, or on Apple's systems
/// in a `KeychainTokenStore`. On devices with a Secure Enclave pass `DeviceKeyMaker.secureEnclave`: the
/// stored representation of a key is then useless on any other device.
///
/// Requests of an account whose key is not enrolled, and requests without account, are sent unsigned.
public final class DeviceKeys: RequestKeyStore {
    private struct State {
        var loaded: [KeyOwner: RequestKey?] = [:]
        var enrolling: Set<KeyOwner> = []
    }

    private let store: any TokenStore
    private let name: String
    let maker: DeviceKeyMaker
    /// Guards the loaded keys, and the owners with an enrolment in progress.
    private let state = Mutex(State())

    /// The maximum number of owners whose keys are in memory. Above it, all keys are discarded from memory, and loaded
    /// again.
    private static let maximumLoaded = 100

    /// Creates a collection of keys that are stored in `store`.
    ///
    /// - Parameters:
    ///   - store: Stores the keys.
    ///   - name: The name of the keys in the store. It must differ from the name of every layer that stores its tokens
    ///     there. The default is `device-keys`.
    ///   - maker: Generates keys. The default generates them in software.
    public init(in store: any TokenStore, name: String = "device-keys", maker: DeviceKeyMaker = .software) {
        (self.store, self.name, self.maker) = (store, name, maker)
    }

    /// Returns the enrolled key of an account, or `nil` if the account has no key. Throws the errors of the store.
    public func key(for owner: KeyOwner) async throws -> RequestKey? {
        if let loaded = state.withLock({ $0.loaded[owner] }) { return loaded }
        let stored = try await load(owner)
        let key = try stored?.current.map { RequestKey(try $0.key(by: maker)) }
        return state.withLock { state in
            // A key that was enrolled during the read is newer than the key that was read.
            if let loaded = state.loaded[owner] { return loaded }
            if state.loaded.count >= Self.maximumLoaded { state.loaded = [:] }
            state.loaded[owner] = .some(key)
            return key
        }
    }

    /// Returns the enrolled key of an account if it was loaded before, otherwise `nil`.
    public func keyInMemory(for owner: KeyOwner) -> RequestKey? { state.withLock { $0.loaded[owner] ?? nil } }

    /// Removes the keys of an account from this device, for example at sign-out. The server accepts the key until it is
    /// revoked. Throws the errors of the store.
    public func remove(for owner: KeyOwner) async throws {
        state.withLock { $0.loaded[owner] = .some(nil) }
        if let tokenKey = owner.tokenKey(named: name) { try await store.remove(tokenKey) }
    }

    func load(_ owner: KeyOwner) async throws -> StoredDeviceKeys? {
        guard let tokenKey = owner.tokenKey(named: name), let token = try await store.load(tokenKey) else { return nil }
        guard let stored = try? JSONDecoder().decode(StoredDeviceKeys.self, from: Data(token.value.utf8)) else {
            // The decoder's error is not passed on, since it quotes the key.
            throw UnreadableDeviceKey()
        }
        return stored
    }

    /// Stores the keys of an owner. The current key signs from now on.
    func save(_ stored: StoredDeviceKeys, for owner: KeyOwner) async throws {
        guard let tokenKey = owner.tokenKey(named: name) else { return }
        let text = String(decoding: try JSONEncoder().encode(stored), as: UTF8.self)
        try await store.save(AccessToken(text, account: tokenKey.account), at: tokenKey)
        let key = try stored.current.map { RequestKey(try $0.key(by: maker)) }
        state.withLock { $0.loaded[owner] = .some(key) }
    }

    /// Begins the enrolment of an owner's key. Returns `false` if one is in progress.
    func beginEnrolment(of owner: KeyOwner) -> Bool { state.withLock { $0.enrolling.insert(owner).inserted } }

    func endEnrolment(of owner: KeyOwner) { state.withLock { _ = $0.enrolling.remove(owner) } }
}
