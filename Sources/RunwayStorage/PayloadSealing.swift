/// Encrypts the data that an ``ActionLog``, an ``OfflineQueue`` or a ``DiskCache`` writes to disk, with a key of the
/// app.
///
/// ```swift
/// struct KeyedSealing: PayloadSealing {
///     let key: SymmetricKey
///
///     func seal(_ bytes: [UInt8], for context: [UInt8]) throws -> [UInt8] {
///         let box = try AES.GCM.seal(bytes, using: key, authenticating: context)
///         return Array(box.combined ?? Data())
///     }
///
///     func open(_ sealed: [UInt8], for context: [UInt8]) throws -> [UInt8] {
///         Array(try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: key, authenticating: context))
///     }
/// }
/// ```
///
/// These are encrypted: the records of a log, the requests of a queue, and the metadata and bodies of responses. These
/// are not: ids, times, sizes, and the names of accounts, services and endpoints, which are needed to find entries.
/// Entries of a log or a queue that were written without a sealing stay readable.
///
/// The implementation must encrypt and authenticate the bytes. It must also authenticate the context, so that an entry
/// that was moved to another place can't be opened. It is called on background threads, and may block them.
public protocol PayloadSealing: Sendable {
    /// Encrypts the bytes of a record, a change or a cached response.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to store.
    ///   - context: Identifies the record, change or response. It is not secret, and not stored with the bytes.
    /// - Throws: Any error, for example because the key can't be read while the device is locked. Nothing is stored
    ///   then: records stay in memory, the call of a change fails, and a response is not cached. The problem is
    ///   reported as ``StorageError/Kind/keyUnavailable``.
    func seal(_ bytes: [UInt8], for context: [UInt8]) throws -> [UInt8]

    /// Decrypts bytes that ``seal(_:for:)`` encrypted for the same context.
    ///
    /// After an error, a few bytes are encrypted and decrypted as a test. If the test fails, the key can't be read now.
    /// Then stored records, changes and responses stay as they are, nothing is sent, and
    /// ``StorageError/Kind/keyUnavailable`` is reported until the key can be read.
    ///
    /// If the test succeeds, the bytes belong to another key. The record or change waits for its key, and is sent when
    /// it can be decrypted, in this run or a later one. A cached response is not found in either case, and stays.
    ///
    /// - Throws: Any error if the key can't be read, or if the bytes were encrypted with another key or for another
    ///   context. Damaged bytes are never passed, since a checksum detects them first.
    func open(_ sealed: [UInt8], for context: [UInt8]) throws -> [UInt8]
}

/// Encrypts and decrypts the payloads of a journal if its owner has a ``PayloadSealing``.
struct PayloadCoder: Sendable {
    /// The first byte of an encrypted payload. Owners of journals store JSON, which never begins with this byte.
    private static let mark: UInt8 = 0

    var sealing: (any PayloadSealing)?

    /// Returns a copy of an entry with the payload as it is stored: encrypted, if the owner of the journal encrypts.
    ///
    /// - Throws: ``StorageError/Kind/keyUnavailable`` if the payload can't be encrypted now.
    func sealed(_ entry: JournalEntry) throws(StorageError) -> JournalEntry {
        guard let sealing else { return entry }
        var sealed = entry
        do {
            sealed.payload = [Self.mark] + (try sealing.seal(entry.payload, for: context(of: entry)))
        } catch {
            throw Self.unavailable
        }
        return sealed
    }

    /// Whether the key can be read now. To find out, a few bytes are encrypted and decrypted.
    var isKeyReadable: Bool {
        guard let sealing else { return true }
        let (bytes, context) = ([UInt8](repeating: 7, count: 16), Array("runway key".utf8))
        guard let sealed = try? sealing.seal(bytes, for: context) else { return false }
        return (try? sealing.open(sealed, for: context)) == bytes
    }

    /// - Throws: ``StorageError/Kind/keyUnavailable`` if the key can't be read now.
    func checkKey() throws(StorageError) { if !isKeyReadable { throw Self.unavailable } }

    // The message contains no text of the app's error, since this text may contain secrets.
    static let unavailable = StorageError(
        .keyUnavailable, "The key of the app's sealing can't be read now. What is stored stays.")

    /// Returns a copy of an entry with its payload decrypted. If the payload can't be decrypted, it is empty.
    func opened(_ entry: JournalEntry) -> JournalEntry {
        guard entry.payload.first == Self.mark else { return entry }
        var opened = entry
        let payload = try? sealing?.open(Array(entry.payload.dropFirst()), for: context(of: entry))
        opened.payload = payload ?? []
        opened.isSealed = payload == nil
        return opened
    }

    private func context(of entry: JournalEntry) -> [UInt8] { entry.id.bytes + Array(entry.scope.utf8) }
}
