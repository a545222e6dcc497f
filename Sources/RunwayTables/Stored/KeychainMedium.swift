#if canImport(Security)
    import Foundation
    import Runway

    /// The keychain: one generic password for each value, of the service `runway.stored`.
    struct KeychainMedium: StoredMedium {
        private let items: KeychainItems

        init(accessGroup: String?, isReadableWhileLocked: Bool, isSynchronized: Bool) {
            items = KeychainItems(
                "runway.stored", accessGroup: accessGroup, isReadableWhileLocked: isReadableWhileLocked,
                isSynchronized: isSynchronized)
        }

        var identity: String {
            "the \(items.isSynchronized ? "synchronised " : "")keychain of \(items.accessGroup ?? "the app")"
        }
        let maximumByteCount = 64 << 10

        func load(_ name: String) async throws -> Data? { try await run { try $0.load(name) } }
        func save(_ bytes: Data, _ name: String) async throws { try await run { try $0.save(bytes, name) } }
        func remove(_ name: String) async throws { try await run { try $0.remove(name) } }

        private func run<Result: Sendable>(
            _ operation: @escaping @Sendable (KeychainItems) throws -> Result
        ) async throws -> Result {
            do {
                return try await RecordStore.inBackground { try operation(items) }
            } catch let refusal as KeychainRefusal {
                throw TableError(refusal.isLocked ? .keyUnavailable : .unavailable, refusal.description)
            }
        }
    }
#endif
