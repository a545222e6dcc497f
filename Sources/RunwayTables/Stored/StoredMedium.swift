import Foundation
import GRDB
import Runway
import RunwaySQLite
import RunwayStorage

/// A store of named bytes. `load` returns `nil` if there are none; `save` returns when they are durable.
protocol StoredMedium: Sendable {
    /// The store and the location of the value in it, in words.
    var identity: String { get }
    var maximumByteCount: Int { get }
    func load(_ name: String) async throws -> Data?
    func save(_ bytes: Data, _ name: String) async throws
    func remove(_ name: String) async throws
}

/// The preferences. The bytes are a property list of one element, which is what the preferences store.
struct PreferencesMedium: StoredMedium {
    let suite: String?
    var identity: String { "the suite \(suite ?? "standard") of preferences" }
    let maximumByteCount = 64 << 10

    func load(_ name: String) throws -> Data? {
        let defaults = try defaults
        // On Linux, values that another process has written are read only after this call.
        _ = defaults.synchronize()
        guard let object = defaults.object(forKey: name) else { return nil }
        if let wrapped = (object as? Data)?.unwrapped { return wrapped }
        return try PropertyListSerialization.data(fromPropertyList: [object], format: .binary, options: 0)
    }

    func save(_ bytes: Data, _ name: String) throws {
        let list = try PropertyListSerialization.propertyList(from: bytes, format: nil) as? [Any] ?? []
        try change { $0.set(bytes.isLost(inTextOf: list) ? Data.wrapping(bytes) : list.first, forKey: name) }
    }

    func remove(_ name: String) throws { try change { $0.removeObject(forKey: name) } }

    private func change(_ change: (UserDefaults) -> Void) throws {
        let defaults = try defaults
        change(defaults)
        guard defaults.synchronize() else { throw TableError(.unavailable, "\(identity) can't be written now.") }
    }

    private var defaults: UserDefaults {
        get throws {
            guard let suite else { return .standard }
            guard let defaults = UserDefaults(suiteName: suite) else {
                throw TableError(.unavailable, "\(identity) can't be used.")
            }
            return defaults
        }
    }
}

extension Data {
    private static let mark = Data("RP\u{1}".utf8)

    /// The property list that is wrapped in the data; `nil` if there is none.
    fileprivate var unwrapped: Data? { starts(with: Self.mark) ? dropFirst(Self.mark.count) : nil }
    fileprivate static func wrapping(_ bytes: Data) -> Data { mark + bytes }

    /// Whether a property list must be wrapped, because the preferences would change it. On Linux their file is XML, in
    /// which dates have whole seconds, and some characters are lost. Data that looks like a wrapped list is wrapped,
    /// too.
    fileprivate func isLost(inTextOf list: [Any]) -> Bool {
        if (list.first as? Data)?.unwrapped != nil { return true }
        #if canImport(Darwin)
            return false
        #else
            guard let xml = try? PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0),
                let read = try? PropertyListSerialization.propertyList(from: xml, format: nil) as? [Any]
            else { return true }
            return !NSArray(array: list).isEqual(to: read)
        #endif
    }
}

/// The table of the values that are stored in a database (``StoredPlace/database(_:)``). The app lists it among the
/// tables of its store, and adds it to an existing file by a ``Step``.
public enum StoredValues: TableDefinition {
    /// `stored_value`.
    public static let name = "stored_value"
    static let key = Column<String>("name"), value = Column<Data>("value")
    /// The name of a value, and its property list.
    public static let columns = TableColumns<Self>(key, value)
}

struct DatabaseMedium: StoredMedium {
    let store: RecordStore
    var identity: String { "the database \(store.url.path)" }
    let maximumByteCount = 1 << 20

    init(store: RecordStore) {
        precondition(
            store.layouts.contains { $0 === StoredValues.layout }, "the store does not list the table StoredValues")
        self.store = store
    }

    func load(_ name: String) async throws -> Data? {
        try await store.read { try $0.fetchFirst(StoredValues.self, where: StoredValues.key == name) }?[
            StoredValues.value]
    }

    func save(_ bytes: Data, _ name: String) async throws {
        var row = Values<StoredValues>()
        row[StoredValues.key] = name
        row[StoredValues.value] = bytes
        let values = row
        try await store.write { try $0.save(values) }
    }

    func remove(_ name: String) async throws {
        try await store.write { try $0.delete(StoredValues.self, where: StoredValues.key == name) }
    }
}

/// One file for each value.
struct FileMedium: StoredMedium {
    enum Form: Sendable {
        case plain, archive, sealed(SecretSealing)
    }

    let folder: URL
    var form = Form.plain

    init(folder: URL, _ form: Form = .plain) { (self.folder, self.form) = (folder, form) }

    var identity: String { "the folder \(folder.standardizedFileURL.path)" }
    var maximumByteCount: Int { if case .sealed = form { 64 << 10 } else { 64 << 20 } }
    /// The limit of the whole file, with the bytes that an archive or a sealed value adds.
    private var maximumFileByteCount: Int { 2 * maximumByteCount }

    func load(_ name: String) async throws -> Data? {
        try await RecordStore.inBackground {
            let url = folder.appending(path: name)
            guard FileManager.default.fileExists(atPath: url.path) else { return nil }
            let facts = try url.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
            guard facts.isRegularFile == true, facts.fileSize ?? .max <= maximumFileByteCount else {
                throw TableError(.corrupted, "\(name) is no stored value, or too large for one.")
            }
            return try unpacked(try Data(contentsOf: url), name)
        }
    }

    func save(_ bytes: Data, _ name: String) async throws {
        try await RecordStore.inBackground {
            let packed = try packed(bytes, name)
            guard packed.count <= maximumFileByteCount else {
                throw TableError(.rejected, "The value \(name) is too large when it is sealed.")
            }
            if try StorageFolder.prepare(folder) { try StorageFolder.protect([folder]) }
            do throws(FileError) {
                try PrivateFile.replace(folder.appending(path: name).path, with: packed)
            } catch {
                throw TableError(error, name)
            }
        }
    }

    func remove(_ name: String) async throws {
        try await RecordStore.inBackground {
            do throws(FileError) {
                try PrivateFile.remove(folder.appending(path: name).path)
            } catch {
                throw TableError(error, name)
            }
        }
    }
}

extension TableError {
    /// Returns the error of a private file that can't be written.
    init(_ error: FileError, _ name: String) {
        let kind: Kind =
            switch error.code {
            case ENOSPC: .full
            case EROFS, EACCES: .readOnly
            default: .unavailable
            }
        self.init(kind, "\(name) can't be written now.")
    }
}
