#if canImport(Security)
    package import Foundation
    import Security

    /// The generic passwords of one service in the keychain, each under a name.
    package struct KeychainItems: Sendable {
        package let service: String
        /// The access group; `nil` for the app's own group.
        package let accessGroup: String?
        /// Whether the items can be read after the first unlock since the device started, and not only while it is
        /// unlocked.
        package let isReadableWhileLocked: Bool
        /// Whether the user's other devices receive the items. Otherwise they never leave the device.
        package let isSynchronized: Bool

        package init(
            _ service: String, accessGroup: String?, isReadableWhileLocked: Bool = true, isSynchronized: Bool = false
        ) {
            (self.service, self.accessGroup) = (service, accessGroup)
            (self.isReadableWhileLocked, self.isSynchronized) = (isReadableWhileLocked, isSynchronized)
        }

        /// Returns the bytes of an item; `nil` if there is none.
        package func load(_ name: String) throws(KeychainRefusal) -> Data? {
            var query = item(name)
            query[kSecReturnData] = true
            query[kSecMatchLimit] = kSecMatchLimitOne
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data = found as? Data else { throw KeychainRefusal(status) }
            return data
        }

        package func save(_ bytes: Data, _ name: String) throws(KeychainRefusal) {
            let item = item(name)
            let content: [CFString: Any] = [kSecValueData: bytes, kSecAttrAccessible: accessibility]
            var status = SecItemUpdate(item as CFDictionary, content as CFDictionary)
            if status == errSecItemNotFound {
                status = SecItemAdd(item.merging(content) { $1 } as CFDictionary, nil)
                // Another process, such as an extension of the app, has added the item in the meantime.
                if status == errSecDuplicateItem {
                    status = SecItemUpdate(item as CFDictionary, content as CFDictionary)
                }
            }
            if status != errSecSuccess { throw KeychainRefusal(status) }
        }

        /// Removes an item. Does nothing if there is none.
        package func remove(_ name: String) throws(KeychainRefusal) {
            let status = SecItemDelete(item(name) as CFDictionary)
            if status != errSecSuccess, status != errSecItemNotFound { throw KeychainRefusal(status) }
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
                kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: name,
                kSecUseDataProtectionKeychain: true, kSecAttrSynchronizable: isSynchronized,
            ]
            if let accessGroup { item[kSecAttrAccessGroup] = accessGroup }
            return item
        }
    }

    /// An operation that the keychain refused.
    package struct KeychainRefusal: Error {
        /// Whether the keychain refused because the device is locked. The operation can succeed after the user has
        /// unlocked it.
        package let isLocked: Bool
        /// Describes the reason in a sentence.
        package let description: String

        fileprivate init(_ status: OSStatus) {
            isLocked = status == errSecInteractionNotAllowed
            switch status {
            case errSecInteractionNotAllowed:
                description = "The keychain can't be read while the device is locked."
            case errSecMissingEntitlement:
                description =
                    "The keychain refused (-34018): the program has no entitlement for it. Sign it with a development "
                    + "team, and turn on the capability Keychain Sharing for an access group."
            default:
                let text = SecCopyErrorMessageString(status, nil).map { $0 as String } ?? "error \(status)"
                description = "The keychain refused: \(text)"
            }
        }
    }
#endif
