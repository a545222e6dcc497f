public import Foundation
import GRDB
public import RunwayStorage

/// The store of a ``Stored`` value, and the form that the value has there.
///
/// | store | for | at most |
/// |---|---|---|
/// | ``preferences(suite:)`` | small settings that concern no business: a theme, the last tab | 64 KiB |
/// | `keychain`, on Apple's systems | ``Secret``: a password, the id of this device | 64 KiB |
/// | ``sealedFile(in:sealing:former:)`` | the same where there is no keychain | 64 KiB |
/// | ``propertyList(in:)`` | structured data that other programs read, too | 64 MiB |
/// | ``archive(in:)`` | large data that is rarely used | 64 MiB |
/// | ``bytes(in:)`` | a picture, an article | 64 MiB |
/// | ``database(_:)`` | one value that belongs to an account, with its file | 1 MiB |
///
/// A value that is larger than the limit is refused as ``TableError/Kind/rejected``. Data with states or kinds, which
/// is searched and sorted, belongs in a ``TableDefinition``; a response that can be fetched again belongs in a
/// `DiskCache`.
public struct StoredPlace<Value: Sendable>: Sendable {
    let medium: any StoredMedium
    let encode: @Sendable (Value) throws -> Data
    let decode: @Sendable (Data) throws -> Value?
    /// The name in this store; `nil` if it is the name of the ``Stored`` value.
    let formerName: String?

    init(
        _ medium: any StoredMedium, named name: String? = nil, encode: @escaping @Sendable (Value) throws -> Data,
        decode: @escaping @Sendable (Data) throws -> Value?
    ) {
        (self.medium, formerName, self.encode, self.decode) = (medium, name, encode, decode)
    }

    /// Names the former store of a value that moves.
    ///
    /// - Parameters:
    ///   - place: The former store.
    ///   - name: The former name, to which the limits of present names do not apply. The default, `nil`, is the present
    ///     name.
    public static func from(_ place: StoredPlace, named name: String? = nil) -> StoredPlace {
        StoredPlace(place.medium, named: name, encode: place.encode, decode: place.decode)
    }

    /// Names the former store of a value that was not sealed there, and is a secret now.
    public static func from<Wrapped: Codable>(
        _ place: StoredPlace<Wrapped>, named name: String? = nil
    ) -> StoredPlace where Value == Secret<Wrapped> {
        StoredPlace(
            place.medium, named: name, encode: { try place.encode($0.value) },
            decode: { try place.decode($0).map { Secret($0) } })
    }
}

extension StoredPlace where Value: Codable {
    /// The preferences (`UserDefaults`). The value has the form in which the app's own code would store it there.
    ///
    /// - Parameter suite: The suite, such as that of an app group. The default, `nil`, is the app's own.
    public static func preferences(suite: String? = nil) -> StoredPlace {
        propertyList(PreferencesMedium(suite: suite))
    }

    /// A file with a property list, in a folder of mode 0700. Its bytes have no checksum.
    public static func propertyList(in folder: URL) -> StoredPlace { propertyList(FileMedium(folder: folder)) }

    /// A file with a compressed property list and a checksum.
    public static func archive(in folder: URL) -> StoredPlace { propertyList(FileMedium(folder: folder, .archive)) }

    /// A row of the table ``StoredValues``, which the store lists among its tables.
    public static func database(_ store: RecordStore) -> StoredPlace { propertyList(DatabaseMedium(store: store)) }

    private static func propertyList(_ medium: any StoredMedium) -> StoredPlace {
        StoredPlace(
            medium,
            encode: { value in
                let encoder = PropertyListEncoder()
                encoder.outputFormat = .binary
                // In an array, since a bare number is not a property list.
                return try encoder.encode([value])
            }, decode: { try PropertyListDecoder().decode([Value].self, from: $0).first })
    }
}

extension StoredPlace where Value == Data {
    /// A file with the bytes as they are, without a checksum. For a file that belongs to a row, declare a column of
    /// ``StoredFile`` instead.
    public static func bytes(in folder: URL) -> StoredPlace {
        StoredPlace(FileMedium(folder: folder), encode: { $0 }, decode: { $0 })
    }
}

extension StoredPlace {
    #if canImport(Security)
        /// The keychain. The value leaves the device only if it is synchronised.
        ///
        /// The value stays in the keychain when the app is deleted.
        ///
        /// - Parameters:
        ///   - accessGroup: The access group of apps and extensions that share the value. The default, `nil`, is the
        ///     app's own.
        ///   - isReadableWhileLocked: Whether the value can be read after the first unlock since the device started. If
        ///     `false`, it can be read only while the device is unlocked. The default is `true`.
        ///   - isSynchronized: Whether the user's other devices receive the value; pass `false` for the id of a device.
        ///     The default is `false`; then another device that restores a backup does not have the value, either.
        public static func keychain<Wrapped>(
            accessGroup: String? = nil, isReadableWhileLocked: Bool = true, isSynchronized: Bool = false
        ) -> StoredPlace where Value == Secret<Wrapped> {
            secret(
                KeychainMedium(
                    accessGroup: accessGroup, isReadableWhileLocked: isReadableWhileLocked,
                    isSynchronized: isSynchronized))
        }
    #endif

    /// A file that is sealed with a key of the app, for systems without a keychain.
    ///
    /// - Parameters:
    ///   - folder: The folder of the file, of mode 0700.
    ///   - sealing: Seals and opens the value, for its name.
    ///   - former: The sealings that open a value from before a rotation of the key. The default is none.
    public static func sealedFile<Wrapped>(
        in folder: URL, sealing: any PayloadSealing, former: [any PayloadSealing] = []
    ) -> StoredPlace where Value == Secret<Wrapped> {
        secret(FileMedium(folder: folder, .sealed(SecretSealing(current: sealing, former: former))))
    }

    private static func secret<Wrapped>(_ medium: any StoredMedium) -> StoredPlace where Value == Secret<Wrapped> {
        StoredPlace(
            medium,
            encode: { secret in
                guard let stored = secret.storedValue else { throw Unreadable() }
                return Data(stored.storedBytes)
            }, decode: { DatabaseValue(Array($0)).flatMap { Secret<Wrapped>.value(of: $0) } })
    }
}

/// The error of a value that could not be read back if it were written.
private struct Unreadable: Error {}

extension StoredPlace {
    func identity(_ name: String) -> String { "\(medium.identity)/\(formerName ?? name)" }

    /// Returns the value; `nil` if there is none.
    func load(_ name: String) async throws(TableError) -> Value? {
        let bytes = try await perform(name) { try await $0.load($1) }
        guard let bytes else { return nil }
        guard let value = try? decode(bytes) else {
            throw TableError(.corrupted, "The stored value \(name) is damaged, or not of its type.")
        }
        return value
    }

    func save(_ value: Value, _ name: String) async throws(TableError) {
        // Some values can be written to a property list, and not read from it, such as the text "$null".
        guard let bytes = try? encode(value), (try? decode(bytes)) != nil else {
            throw TableError(.rejected, "The value \(name) can't be stored without loss.")
        }
        let limit = medium.maximumByteCount
        guard bytes.count <= limit else {
            throw TableError(
                .rejected, "The value \(name) has \(bytes.count) bytes, and its store takes at most \(limit).")
        }
        try await perform(name) { try await $0.save(bytes, $1) }
    }

    func remove(_ name: String) async throws(TableError) { try await perform(name) { try await $0.remove($1) } }

    private func perform<Result>(
        _ name: String, _ operation: (any StoredMedium, String) async throws -> Result
    ) async throws(TableError) -> Result {
        let name = formerName ?? name
        do {
            return try await operation(medium, name)
        } catch {
            throw TableError(error, at: URL(fileURLWithPath: name))
                ?? TableError(.unavailable, "The store of \(name) can't be used now.")
        }
    }
}
