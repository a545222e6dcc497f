#if canImport(Security)
    import Foundation

    /// Stores access tokens, and the signed-in accounts, in the keychain of the device.
    ///
    /// The tokens can be read after the device was unlocked for the first time since its boot. They never leave the
    /// device, neither in a backup nor by the synchronisation of keychains. They remain when the app is deleted, so an
    /// app that is installed again is signed in. To prevent this, sign out at the first launch.
    ///
    /// ```swift
    /// let network = NetworkLayer(tokens: KeychainTokenStore())
    /// // In an app and in its extension, which share their tokens:
    /// let shared = NetworkLayer(tokens: KeychainTokenStore(accessGroup: "A1B2C3D4E5.com.example.films"))
    /// ```
    public struct KeychainTokenStore: TokenStore {
        /// The access group of the tokens; `nil` for the app's own group.
        public let accessGroup: String?

        /// Creates a store of tokens in the keychain of the app.
        ///
        /// - Parameter accessGroup: The access group, for apps that share their tokens. The default, `nil`, is the
        ///   app's own group.
        public init(accessGroup: String? = nil) { self.accessGroup = accessGroup }

        /// Loads a token, or returns `nil` if none is stored.
        ///
        /// - Throws: ``NetworkError/Kind/storage``.
        public func load(_ key: TokenKey) throws -> AccessToken? { try read(AccessToken.self, at: key) }

        /// Stores a token.
        ///
        /// - Throws: ``NetworkError/Kind/storage``.
        public func save(_ token: AccessToken, at key: TokenKey) throws { try write(token, at: key) }

        /// Removes a token. Does nothing if none is stored.
        ///
        /// - Throws: ``NetworkError/Kind/storage``.
        public func remove(_ key: TokenKey) throws { try delete(key) }

        /// Returns the account that was last signed in to a service, or `nil` if none was signed in.
        ///
        /// - Throws: ``NetworkError/Kind/storage``.
        public func signedInAccount(at key: AccountKey) throws -> String? { try read([String].self, at: key)?.first }

        /// Stores the account that is signed in to a service; `nil` if none is signed in.
        ///
        /// - Throws: ``NetworkError/Kind/storage``.
        public func setSignedInAccount(_ account: String?, at key: AccountKey) async throws {
            if let account { try write([account], at: key) } else { try delete(key) }
        }

        private func read<Value: Decodable>(_ type: Value.Type, at key: some Encodable) throws -> Value? {
            guard let data = try perform(key, { try $0.load($1) }) else { return nil }
            do {
                return try JSONDecoder().decode(type, from: data)
            } catch {
                throw NetworkError.tokenStore("The item in the keychain can't be read.")
            }
        }

        private func write(_ value: some Encodable, at key: some Encodable) throws {
            let bytes = try JSONEncoder().encode(value)
            try perform(key) { try $0.save(bytes, $1) }
        }

        private func delete(_ key: some Encodable) throws { try perform(key) { try $0.remove($1) } }

        /// Performs an operation on the item of a token or of an account. Their keys have different members, so their
        /// items have different names.
        private func perform<Result>(
            _ key: some Encodable, _ operation: (KeychainItems, String) throws -> Result
        ) throws -> Result {
            // JSON separates the parts of the key, whatever characters they contain.
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let name = String(decoding: try encoder.encode(key), as: UTF8.self)
            do {
                return try operation(KeychainItems("runway", accessGroup: accessGroup), name)
            } catch let refusal as KeychainRefusal {
                throw NetworkError.tokenStore(refusal.description)
            }
        }
    }
#endif
