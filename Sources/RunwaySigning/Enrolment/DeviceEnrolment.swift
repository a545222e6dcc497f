import Crypto
import Foundation
import HTTPTypes
public import Runway
import RunwayFormats
import RunwayJSON
import RunwaySignatures

/// Makes a key on this device for the account that is signed in, and enrols the key at the server.
///
/// ```swift
/// let enrolment = DeviceEnrolment(at: Shop.self, in: network, keys: keys)
/// try await enrolment.enrol()
/// ```
///
/// The counterpart in the server is `EnrolmentRoutes` of `RunwayServer`. It issues a challenge. The device signs the
/// challenge together with the account, the device and the public key, so that the server knows that the device has the
/// key. The private key is never sent.
///
/// Requests of an enrolment have the access token of the account. They are signed by the current key if there is one.
///
/// A new key is stored before its enrolment is sent. If the response is lost, the next enrolment sends the same key.
public struct DeviceEnrolment<Service: APIService>: Sendable {
    private let network: NetworkLayer
    private let keys: DeviceKeys
    private let path: EndpointPath
    private let attestor: (any DeviceAttestor)?

    /// Creates an enrolment of keys at a service.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - network: The layer whose requests are signed.
    ///   - keys: The keys of the device. Pass the same object to the layer's `SigningStage`.
    ///   - path: The path of the routes below the service's base URL. The default is `device-keys`.
    ///   - attestor: Creates evidence of the platform. The default, `nil`, creates none.
    public init(
        at service: Service.Type, in network: NetworkLayer, keys: DeviceKeys, path: EndpointPath = "device-keys",
        attestor: (any DeviceAttestor)? = nil
    ) {
        (self.network, self.keys, self.path, self.attestor) = (network, keys, path, attestor)
    }

    /// Enrols a key for the account, unless the account has a key that the server accepts. Returns the key identifier.
    ///
    /// The server's list of keys is requested to find out whether the current key has expired or was revoked. Such a
    /// key is removed and replaced. If the request fails, the current key stays.
    ///
    /// - Throws: `NetworkError.Kind.needsLogin` if no account is signed in, `storage` if a key cannot be created or
    ///   stored, `overloaded` if an enrolment for the account is in progress, and otherwise the error of a call.
    @discardableResult
    public func enrol() async throws(NetworkError) -> String { try await run(replacing: false) }

    /// Replaces the key of the account with a new one, and returns the new key identifier. The server accepts the old
    /// key for some time, so that requests in flight do not fail. If the server no longer accepts the old key, the new
    /// one is enrolled without it.
    ///
    /// Throws as ``enrol()`` does.
    @discardableResult
    public func rotate() async throws(NetworkError) -> String { try await run(replacing: true) }

    /// Returns the account's keys at the server, for all its devices.
    public func list() async throws(NetworkError) -> [EnrolledDeviceKey] {
        let response = try await network.call(ListKeys<Service>(base: path))
        let list = response["keys"]
        guard list.kind == .array else { throw Self.unexpected("The list of keys is malformed.") }
        return try list.elements.map { json throws(NetworkError) in
            guard let key = EnrolledDeviceKey(json) else { throw Self.unexpected("The list of keys is malformed.") }
            return key
        }
    }

    /// Revokes a key of the account at the server, such as the key of a lost device or of this device.
    public func revoke(_ id: String) async throws(NetworkError) {
        guard !id.isEmpty, id.utf8.allSatisfy({ $0.isUnreserved }) else {
            throw NetworkError(
                .invalidParameters, in: .signing, "The identifier of the key is malformed.", sending: .notSent)
        }
        _ = try await network.call(RevokeKey<Service>(base: path, id: id))
    }

    private func run(replacing: Bool) async throws(NetworkError) -> String {
        let settings = network.settings(of: Service.self)
        let owner = KeyOwner(service: Service.name, environment: settings.environment, account: settings.account)
        guard let account = settings.account else {
            throw NetworkError(.needsLogin, in: .signing, "A key is enrolled after login.", sending: .notSent)
        }
        guard let authority = settings.baseURLs[settings.environment].flatMap(Self.authority) else {
            throw NetworkError(.invalidConfiguration, in: .signing, "The service has no base URL.", sending: .notSent)
        }
        guard keys.beginEnrolment(of: owner) else {
            throw NetworkError(.overloaded, in: .signing, "A key of the account is being enrolled.", sending: .notSent)
        }
        defer { keys.endEnrolment(of: owner) }
        var stored = try await stored(of: owner)
        if let current = stored.current, !replacing {
            if try await !hasEnded(current, of: account) { return current.id }
            stored.current = nil
            try await save(stored, for: owner)
        }
        do throws(NetworkError) {
            return try await enrolPending(&stored, of: owner, account: account, authority: authority)
        } catch {
            // The key to replace has expired or was revoked, so it can no longer prove or sign anything.
            guard stored.current != nil, error.isEnrolmentRefusal("unknownKey") else { throw error }
            stored.current = nil
            try await save(stored, for: owner)
            return try await enrolPending(&stored, of: owner, account: account, authority: authority)
        }
    }

    /// Returns whether the server reports that it no longer accepts a key of an account. Returns `false` if the server
    /// does not respond. Also returns `false` if another account has signed in, since the list would have the keys of
    /// that account.
    private func hasEnded(_ key: StoredDeviceKeys.Key, of account: String) async throws(NetworkError) -> Bool {
        do {
            let isListed = try await list().contains { $0.id == key.id && $0.isActive }
            return !isListed && network.settings(of: Service.self).account == account
        } catch {
            if error.kind == .cancelled { throw error }
            return false
        }
    }

    /// Enrols the pending key, or a new one, and stores the enrolled key as the current key. If there is a current key,
    /// the enrolled key replaces it.
    private func enrolPending(
        _ stored: inout StoredDeviceKeys, of owner: KeyOwner, account: String, authority: String
    ) async throws(NetworkError) -> String {
        let key = try await pendingKey(&stored, for: owner)
        let current = try Self.translated { () throws in try stored.current?.key(by: keys.maker) }
        let challenge = try await network.call(AskForChallenge<Service>(base: path))["challenge"].string
        let statement: EnrolmentStatement
        do throws(SignatureError) {
            statement = try EnrolmentStatement(
                authority: authority, account: account, device: stored.device, challenge: challenge ?? "",
                replacing: stored.current?.id, publicKey: Array(key.publicKey.x963Representation))
        } catch {
            throw Self.unexpected("The challenge or the account can't be signed: \(error).")
        }
        let json = try await request(statement, by: key, replacing: current)
        let id: String?
        do throws(NetworkError) {
            id = try await network.call(EnrolKey<Service>(base: path, json: json))["id"].string
        } catch {
            // The server will never accept this key, so the next enrolment must create another.
            if error.status == .conflict {
                stored.pending = nil
                try await save(stored, for: owner)
            }
            throw error
        }
        guard id == statement.keyID else { throw Self.unexpected("The server enrolled another key.") }
        (stored.current, stored.pending) = (stored.pending, nil)
        try await save(stored, for: owner)
        return statement.keyID
    }

    private func stored(of owner: KeyOwner) async throws(NetworkError) -> StoredDeviceKeys {
        do {
            return try await keys.load(owner) ?? StoredDeviceKeys()
        } catch {
            throw NetworkError(signing: error)
        }
    }

    private func save(_ stored: StoredDeviceKeys, for owner: KeyOwner) async throws(NetworkError) {
        do {
            try await keys.save(stored, for: owner)
        } catch {
            throw NetworkError(signing: error)
        }
    }

    /// Returns the stored key of an unfinished enrolment, or creates and stores a new key.
    private func pendingKey(
        _ stored: inout StoredDeviceKeys, for owner: KeyOwner
    ) async throws(NetworkError) -> any DeviceKey {
        if let pending = stored.pending, let key = try? pending.key(by: keys.maker) { return key }
        let key = try Self.translated { () throws in try keys.maker.makeKey() }
        stored.pending = StoredDeviceKeys.Key(key)
        try await save(stored, for: owner)
        return key
    }

    /// Returns the request body: the statement and its signatures.
    private func request(
        _ statement: EnrolmentStatement, by key: any DeviceKey, replacing current: (any DeviceKey)?
    ) async throws(NetworkError) -> [UInt8] {
        do {
            var members: [EnrolmentMember: String] = [
                .key: Base64.encodedForURL(statement.publicKey), .device: statement.device,
                .challenge: statement.challenge,
                .proof: Base64.encodedForURL(try await key.signature(of: statement.bytes)),
            ]
            members[.replaces] = statement.replacedKeyID
            if let current {
                members[.replacedProof] = Base64.encodedForURL(try await current.signature(of: statement.bytes))
            }
            if let evidence = try await attestor?.evidence(for: statement.bytes) {
                members[.evidenceFormat] = evidence.format
                members[.evidence] = Base64.encodedForURL(evidence.data)
            }
            return EnrolmentMember.json(members)
        } catch {
            throw NetworkError(signing: error)
        }
    }

    private static func translated<Value>(_ work: () throws -> Value) throws(NetworkError) -> Value {
        do { return try work() } catch { throw NetworkError(signing: error) }
    }

    private static func unexpected(_ detail: String) -> NetworkError {
        NetworkError(.invalidResponse, in: .signing, detail, sending: .sent)
    }

    /// Returns the authority of a base URL, in lower case and without the default port.
    private static func authority(of baseURL: String) -> String? {
        guard let url = URLComponents(string: baseURL), let host = url.percentEncodedHost, !host.isEmpty else {
            return nil
        }
        let isDefault = url.port == nil || url.port == (url.scheme?.lowercased() == "http" ? 80 : 443)
        return host.lowercased() + (isDefault ? "" : ":\(url.port ?? 0)")
    }
}

extension NetworkError {
    /// Returns whether the server refused an enrolment for a reason (`EnrolmentRefusal` of `RunwayServer`).
    fileprivate func isEnrolmentRefusal(_ reason: String) -> Bool {
        rawData.map { Problem.Family.enrolment.reason(of: $0.json) == reason } ?? false
    }
}

/// A key of an account in the server's list.
public struct EnrolledDeviceKey: Sendable, Hashable {
    /// The identifier of the key.
    public let id: String
    /// The device that has the key; `nil` if the server does not know it.
    public let device: String?
    /// The time of the enrolment in seconds since 1970; `nil` if the server does not know it.
    public let enrolled: Int64?
    /// The time until which the key is accepted, in seconds since 1970; `nil` if there is no limit.
    public let notAfter: Int64?
    /// Whether the server accepts the key now.
    public let isActive: Bool

    init?(_ json: JSONValue) {
        guard let id = json["id"].string, let isActive = json["active"].bool else { return nil }
        (self.id, self.isActive) = (id, isActive)
        device = json["device"].string
        enrolled = json["notBefore"].int64
        notAfter = json["notAfter"].int64
    }
}

extension UInt8 {
    /// Whether the character is unreserved in a URL (RFC 3986 §2.3).
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~".utf8.contains(self)
        }
    }
}
