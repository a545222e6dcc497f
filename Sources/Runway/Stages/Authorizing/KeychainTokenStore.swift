#if canImport(Security)
    import Foundation
    import Security

    /// Stores access tokens in the keychain of the device.
    ///
    /// They can be read after the device was unlocked once since it started, and do not leave it, neither by a backup nor by the
    /// synchronisation of keychains.
    ///
    /// ```swift
    /// let network = NetworkLayer(tokens: KeychainTokenStore())
    /// // In an app and in its extension, which share their tokens:
    /// let shared = NetworkLayer(tokens: KeychainTokenStore(accessGroup: "A1B2C3D4E5.com.example.films"))
    /// ```
    public struct KeychainTokenStore: TokenStore {
        /// The access group that the tokens belong to; `nil` is the app's own.
        public let accessGroup: String?

        /// Stores tokens in the keychain of the app.
        ///
        /// - Parameter accessGroup: The access group, for apps that share their tokens. The default, `nil`, is the app's own.
        public init(accessGroup: String? = nil) { self.accessGroup = accessGroup }

        /// Loads a token; returns `nil` if there is none.
        ///
        /// - Throws: ``NetworkError/Kind/storage``.
        public func load(_ key: TokenKey) throws -> AccessToken? {
            var query = try item(at: key)
            query[kSecReturnData] = true
            query[kSecMatchLimit] = kSecMatchLimitOne
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data = found as? Data else { throw Self.error(status) }
            do {
                return try JSONDecoder().decode(AccessToken.self, from: data)
            } catch {
                throw NetworkError.tokenStore("The token in the keychain can't be read.")
            }
        }

        /// Stores a token.
        ///
        /// - Throws: ``NetworkError/Kind/storage``.
        public func save(_ token: AccessToken, at key: TokenKey) throws {
            let item = try item(at: key)
            let content: [CFString: Any] = [
                kSecValueData: try JSONEncoder().encode(token),
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(item as CFDictionary, content as CFDictionary)
            if status == errSecItemNotFound {
                status = SecItemAdd(item.merging(content) { $1 } as CFDictionary, nil)
                // Another process, such as an extension of the app, has added it in between.
                if status == errSecDuplicateItem {
                    status = SecItemUpdate(item as CFDictionary, content as CFDictionary)
                }
            }
            if status != errSecSuccess { throw Self.error(status) }
        }

        /// Forgets a token.
        ///
        /// - Throws: ``NetworkError/Kind/storage``.
        public func remove(_ key: TokenKey) throws {
            let status = SecItemDelete(try item(at: key) as CFDictionary)
            if status != errSecSuccess, status != errSecItemNotFound { throw Self.error(status) }
        }

        private func item(at key: TokenKey) throws -> [CFString: Any] {
            // JSON keeps the parts apart, whatever characters their names have.
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let name = String(decoding: try encoder.encode(key), as: UTF8.self)
            var item: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "runway", kSecAttrAccount: name,
                kSecUseDataProtectionKeychain: true,
            ]
            if let accessGroup { item[kSecAttrAccessGroup] = accessGroup }
            return item
        }

        private static func error(_ status: OSStatus) -> NetworkError {
            if status == errSecMissingEntitlement {
                return NetworkError.tokenStore(
                    "The keychain refused (-34018): the program has no entitlement for it. Sign it with a development team, and "
                        + "turn on the capability Keychain Sharing for an access group.")
            }
            let text = SecCopyErrorMessageString(status, nil).map { $0 as String } ?? "error \(status)"
            return NetworkError.tokenStore("The keychain refused: \(text)")
        }
    }
#endif
