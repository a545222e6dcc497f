public import Foundation
public import HTTPTypes
import RunwaySyncCore

/// The place in which a server stores the files that synchronised rows name, for a ``SyncRouter``.
///
/// Files are addressed by their content: the space, and the SHA-256 of the bytes. Equal files of a space are stored
/// once.
public struct SyncFiles: Sendable {
    /// Returns the URL to which a request for a file is redirected, such as a signed URL of an object store; `nil`
    /// responds with 404.
    ///
    /// The app's rights were checked before. A `HEAD` asks whether the file exists. After a `PUT`, the object store
    /// must serve only bytes with the digest, which receiving devices verify. Devices learn of a file at their next
    /// attempt, after at most as long a pause as they have waited already.
    public typealias Location = @Sendable (SyncFile, HTTPRequest.Method) async throws -> String?

    enum Place { case folder(SyncFileFolder), objectStore(Location) }
    let place: Place
    let maximumByteCount: Int

    /// Stores the files in a folder.
    ///
    /// - Parameters:
    ///   - path: The folder, accessible only to its user (mode 0700). It is created if its parent folder exists.
    ///     Several processes may share it.
    ///   - maximumByteCount: The largest size of a file in bytes; a larger one is refused with 413. The default is
    ///     1 GiB.
    public static func folder(_ path: String, maximumByteCount: Int = 1 << 30) -> SyncFiles {
        SyncFiles(place: .folder(SyncFileFolder(path: path)), maximumByteCount: maximumByteCount)
    }

    /// Redirects devices to another server, with status 307.
    ///
    /// - Parameters:
    ///   - maximumByteCount: The largest size that a `PUT` may announce, in bytes. The default is 1 GiB.
    ///   - location: Returns the URL of a request.
    public static func objectStore(
        maximumByteCount: Int = 1 << 30, _ location: @escaping Location
    ) -> SyncFiles { SyncFiles(place: .objectStore(location), maximumByteCount: maximumByteCount) }
}

/// A file that rows of a space name.
public struct SyncFile: Hashable, Sendable {
    /// The space of the rows.
    public let space: UUID
    /// The SHA-256 of the bytes, in 64 hexadecimal digits in lower case.
    public let digest: String

    /// - Returns: `nil` if the text is no digest.
    init?(_ space: Identifier, digest: String) {
        guard digest.utf8.count == 64, digest.utf8.allSatisfy(Self.isDigit) else { return nil }
        (self.space, self.digest) = (UUID(space), digest)
    }

    /// Reads the value of a column of files: a UUID, the size and the digest.
    init?(_ value: SyncValue, in space: Identifier) {
        guard case .text(let name) = value else { return nil }
        let parts = name.dropFirst(37).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, Identifier(String(name.prefix(36))) != nil, Int64(parts[0]) != nil else { return nil }
        self.init(space, digest: String(parts[1]))
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}

extension SyncService {
    /// Removes the files of a space that no row names, from a folder of ``SyncFiles/folder(_:maximumByteCount:)``. Call
    /// it regularly: the routes never remove a file.
    ///
    /// - Parameters:
    ///   - files: The files of the router.
    ///   - space: The space.
    ///   - age: Files for which a device has asked within this time stay, since their row may arrive later. The default
    ///     is 30 days. A file that is being sent stays, too.
    /// - Throws: The error of the store, or of a file.
    public func removeUnusedFiles(
        from files: SyncFiles, in space: UUID, unusedFor age: Duration = .seconds(30 * 86_400)
    ) async throws {
        guard case .folder(let folder) = files.place else { return }
        // The files are listed before the rows: a file that comes later stays.
        let unused = try await folder.digests(in: space, unusedFor: age)
        if unused.isEmpty { return }
        let (id, limit) = (Identifier(space), 1_000)
        var (named, last) = (Set<String>(), RowKey?.none)
        repeat {
            let after = last
            let rows = try await database.transaction(.reading, in: id, byteCount: 1 << 20) { tables in
                var needs = SpaceNeeds()
                needs.page = .init(after: after, limit: limit)
                return try tables.content(for: needs).page
            }
            for row in rows ?? [] {
                named.formUnion(row.row.values?.compactMap { SyncFile($0.value, in: id)?.digest } ?? [])
            }
            last = rows?.last?.key
        } while last != nil
        // The folder asks again, under the lock of each file, whether a device has asked for it meanwhile.
        try await folder.remove(unused.subtracting(named), in: space, unusedFor: age)
    }
}
