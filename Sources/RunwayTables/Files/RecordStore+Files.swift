public import Foundation
import GRDB
public import Runway

extension RecordStore {
    /// Stores bytes as a file, and passes the file to a closure, which saves a row that names it.
    ///
    /// ```swift
    /// try await store.withFile(picture) { file in
    ///     var film = Values<Films>()
    ///     film[Films.id] = 7
    ///     film[Films.poster] = file
    ///
    ///     let row = film
    ///     try await store.write { try $0.save(row) }
    /// }
    /// ```
    ///
    /// The file is complete before the closure runs and, with ``Options/survivesPowerLoss``, on the drive. If no row
    /// names it when the closure has returned or thrown, it is removed. If the process is killed before the commit, the
    /// next opening of the store removes the file. If other stores have the database open then, a later opening does.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - isolation: The isolation of the caller, in which the closure runs.
    ///   - body: Saves rows that name the file. Two rows, or columns, may name it.
    /// - Returns: The value of `body`.
    /// - Throws: ``TableError/Kind/full`` if there is no space, ``TableError/Kind/rejected`` if the store has no column
    ///   of files, ``TableError/Kind/readOnly``, an error of the file, or the error of `body`.
    public func withFile<Value>(
        _ data: Data, isolation: isolated (any Actor)? = #isolation, _ body: (StoredFile) async throws -> Value
    ) async throws -> Value {
        try await naming(body, isolation) { draft in
            try await files.run { _ in try FileFolder.open(draft, O_WRONLY | O_CREAT | O_EXCL).write(contentsOf: data) }
        }.value
    }

    /// Stores the parts of a sequence as a file, like ``withFile(_:isolation:_:)``. One part is in memory at a time.
    ///
    /// - Parameters:
    ///   - parts: The parts in their order, such as a `BodyStream`. If the sequence throws, nothing is stored.
    ///   - maximumByteCount: The largest size in bytes; a larger file is refused as ``TableError/Kind/rejected``. The
    ///     default is 64 GiB, or the largest `Int` if that is smaller.
    ///   - isolation: The isolation of the caller, in which the closure runs.
    ///   - body: Saves rows that name the file.
    public func withFile<Value, Parts: AsyncSequence>(
        from parts: Parts, upTo maximumByteCount: Int = Int(clamping: Int64(64) << 30),
        isolation: isolated (any Actor)? = #isolation, _ body: (StoredFile) async throws -> Value
    ) async throws -> Value where Parts.Element == [UInt8] {
        try await naming(body, isolation) { draft in
            let handle = try await files.run { _ in try FileFolder.open(draft, O_WRONLY | O_CREAT | O_EXCL) }
            var (iterator, rest) = (parts.makeAsyncIterator(), maximumByteCount)
            while let part = try await iterator.next(isolation: isolation) {
                rest -= part.count
                if rest < 0 { throw TableError(.rejected, "The file has more than \(maximumByteCount) bytes.") }
                try await files.run { _ in try handle.write(contentsOf: Data(part)) }
            }
        }.value
    }

    /// Stores a clone of a file, like ``withFile(_:isolation:_:)``. A file system without clones makes a copy.
    ///
    /// - Parameters:
    ///   - source: A plain file. A link or a folder is refused as ``TableError/Kind/rejected``.
    ///   - isolation: The isolation of the caller, in which the closure runs.
    ///   - body: Saves rows that name the file.
    public func withFile<Value>(
        copying source: URL, isolation: isolated (any Actor)? = #isolation, _ body: (StoredFile) async throws -> Value
    ) async throws -> Value {
        try await naming(body, isolation) { draft in
            try await files.run { _ in try Self.copy(source, to: draft, canLink: false) }
        }.value
    }

    /// Moves a file into the store, like ``withFile(_:isolation:_:)``. A file of another volume is copied.
    ///
    /// The source is removed after the commit of a row that names the file, so that neither a kill nor an error loses
    /// it. The mode of the source becomes 0600 before that.
    ///
    /// - Parameters:
    ///   - source: A plain file that no program changes from now on. A link is refused as ``TableError/Kind/rejected``.
    ///   - isolation: The isolation of the caller, in which the closure runs.
    ///   - body: Saves rows that name the file.
    public func withFile<Value>(
        moving source: URL, isolation: isolated (any Actor)? = #isolation, _ body: (StoredFile) async throws -> Value
    ) async throws -> Value {
        let (value, isNamed) = try await naming(body, isolation) { draft in
            try await files.run { _ in try Self.copy(source, to: draft, canLink: true) }
        }
        if isNamed { try? await Self.inBackground { _ = unlink(source.path) } }
        return value
    }

    /// Returns the location of a file, for a player or an image view that reads it by itself.
    ///
    /// The location is valid as long as a row names the file. No other file ever has the same location. Do not write
    /// there.
    ///
    /// - Throws: ``TableError/Kind/fileUnreadable`` if the file is absent, or its size has changed since it was stored.
    public func url(of file: StoredFile) async throws -> URL {
        try await files.run { try $0.open(file).url }
    }

    /// Returns the bytes of a file in parts of at most 64 KiB, each of which is read on demand.
    ///
    /// Each iteration opens the file, and reads it to its end even if it is removed meanwhile. An iteration throws
    /// ``TableError/Kind/fileUnreadable`` if the file is absent, or its size has changed since it was stored. Changed
    /// bytes are not noticed.
    public func bytes(of file: StoredFile) -> BodyStream {
        BodyStream { [files] in
            var handle: FileHandle?
            var rest = file.byteCount
            return { [files] in
                let opened = handle
                let (now, part) = try await files.run { files in
                    let handle = try opened ?? files.open(file).handle
                    return (handle, try handle.read(upToCount: 1 << 16) ?? Data())
                }
                (handle, rest) = (now, rest - part.count)
                guard part.isEmpty ? rest == 0 : rest >= 0 else { throw files.damage }
                return part.isEmpty ? nil : Array(part)
            }
        }
    }

    private static func copy(_ source: URL, to path: String, canLink: Bool) throws {
        guard FileFolder.byteCount(at: source.path) != nil else {
            throw TableError(.rejected, "The file to store is absent, or no plain file.")
        }
        if canLink, link(source.path, path) == 0 { return }
        try FileManager.default.copyItem(at: source, to: URL(fileURLWithPath: path))
    }

    /// Makes a file, passes it to a closure, and removes it afterwards unless a row names it.
    private func naming<Value>(
        _ body: (StoredFile) async throws -> Value, _ isolation: isolated (any Actor)?,
        _ fill: (_ draft: String) async throws -> Void
    ) async throws -> (value: Value, isNamed: Bool) {
        try checkWritable()
        try files.checkUsed()
        _ = try queue()
        let file = try await files.make(isolation: isolation, fill)
        defer { files.settle(file) }
        do {
            let value = try await body(file)
            return (value, await isNamed(file))
        } catch {
            _ = await isNamed(file)
            throw error
        }
    }

    /// Returns whether a row names a file, and removes the file if none does. If the database can't be read, the file
    /// stays until a sweep.
    private func isNamed(_ file: StoredFile) async -> Bool {
        // Runs to its end in a task that is cancelled, too.
        (try? await Self.inBackground { [self] in
            let queue = try queue()
            // A read does not wait for other processes.
            if try queue.read({ try FileCounts.isNamed(file, in: $0) }) { return true }
            return try queue.write { try files.removeUnlessNamed(file, in: $0) }
        }) ?? false
    }

    /// Removes the files that a commit has left without a row. If that fails, a later write or opening removes them.
    func removeUnnamedFiles() async {
        guard let queue = try? queue() else { return }
        try? await Self.inBackground { [files] in while try queue.write({ try files.removeUnnamed(in: $0) }) > 0 {} }
    }
}

extension DownloadManager {
    /// Makes a call, moves the downloaded file into a store, and saves rows that name it, after the landing.
    ///
    /// ```swift
    /// try await films.landing(of: RentalFilm(id: 7), in: store) { file, film in
    ///     var row = Values<Films>()
    ///     row[Films.id] = 7
    ///     row[Films.film] = film
    ///     try file.save(row)
    /// }
    /// ```
    ///
    /// If the process is killed before the commit, the file is still at the destination of the download.
    ///
    /// - Parameters:
    ///   - endpoint: The call to make.
    ///   - store: The store of the rows.
    ///   - options: Settings of this call that override those of its endpoint.
    ///   - save: Saves rows, in one transaction; it may run again from its beginning.
    /// - Throws: The errors of `landing(of:)`, and those of ``RecordStore/withFile(moving:isolation:_:)``.
    @discardableResult
    public func landing<Value: Sendable>(
        of endpoint: E, in store: RecordStore, options: CallOptions = .standard,
        _ save: @escaping @Sendable (TableWriter, StoredFile) throws -> Value
    ) async throws -> Value {
        guard let file = try await landing(of: endpoint, options: options).file else {
            preconditionFailure("a download has a file")
        }
        return try await store.withFile(moving: file.url) { stored in
            try await store.write { try save($0, stored) }
        }
    }
}
