#if canImport(Security)
    import Foundation
    import Security

    /// The keychain: one generic password for each value, of the service `runway.stored`.
    struct KeychainMedium: StoredMedium {
        let accessGroup: String?
        let isReadableWhileLocked: Bool
        let isSynchronized: Bool

        var identity: String { "the \(isSynchronized ? "synchronised " : "")keychain of \(accessGroup ?? "the app")" }
        let maximumByteCount = 64 << 10

        func load(_ name: String) async throws -> Data? {
            try await RecordStore.inBackground {
                var query = item(name)
                query[kSecReturnData] = true
                query[kSecMatchLimit] = kSecMatchLimitOne
                var found: CFTypeRef?
                let status = SecItemCopyMatching(query as CFDictionary, &found)
                if status == errSecItemNotFound { return nil }
                guard status == errSecSuccess, let data = found as? Data else { throw Self.error(status) }
                return data
            }
        }

        func save(_ bytes: Data, _ name: String) async throws {
            try await RecordStore.inBackground {
                let item = item(name)
                let content: [CFString: Any] = [kSecValueData: bytes, kSecAttrAccessible: accessibility]
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
        }

        func remove(_ name: String) async throws {
            try await RecordStore.inBackground {
                let status = SecItemDelete(item(name) as CFDictionary)
                if status != errSecSuccess, status != errSecItemNotFound { throw Self.error(status) }
            }
        }

        private var accessibility: CFString {
            switch (isReadableWhileLocked, isSynchronized) {
            case (true, false): kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            case (false, false): kSecAttrAccessibleWhenUnlockedThisDeviceOnly
            case (true, true): kSecAttrAccessibleAfterFirstUnlock
            case (false, true): kSecAttrAccessibleWhenUnlocked
            }
        }

        private func item(_ name: String) -> [CFString: Any] {
            var item: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "runway.stored", kSecAttrAccount: name,
                kSecUseDataProtectionKeychain: true, kSecAttrSynchronizable: isSynchronized,
            ]
            if let accessGroup { item[kSecAttrAccessGroup] = accessGroup }
            return item
        }

        private static func error(_ status: OSStatus) -> TableError {
            switch status {
            case errSecInteractionNotAllowed:
                TableError(.keyUnavailable, "The keychain can't be read while the device is locked.")
            case errSecMissingEntitlement:
                TableError(
                    .unavailable,
                    "The keychain refused (-34018): the program has no entitlement for it. Sign it with a development "
                        + "team, and turn on the capability Keychain Sharing for an access group.")
            default: TableError(.unavailable, "The keychain refused: error \(status).")
            }
        }
    }
#endif
