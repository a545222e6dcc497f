/// Encrypts what an ``ActionLog``, an ``OfflineQueue`` or a ``DiskCache`` writes to disk, with a key that the app has.
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
/// Encrypted are the records of a log, the requests of a queue, and the metadata and bodies of responses. Ids, times, sizes, and the names
/// of accounts, services and endpoints by which entries are found are not. What was written before an app passed a sealing stays readable
/// in a log and a queue.
///
/// The implementation must encrypt and authenticate the bytes, and authenticate the context, so that an entry in the place of another
/// one does not open. It is called on background threads, and may block them.
public protocol PayloadSealing: Sendable {
    /// Returns the bytes encrypted.
    ///
    /// - Parameters:
    ///   - bytes: What is to be stored.
    ///   - context: What identifies it. It is not stored with the bytes, and not secret.
    /// - Throws: Any error, such as that the key can't be read while the device is locked. Nothing is stored then: records stay in memory,
    ///   the call of a change fails, a response is not cached.
    func seal(_ bytes: [UInt8], for context: [UInt8]) throws -> [UInt8]

    /// Returns the bytes that ``seal(_:for:)`` encrypted for the same context.
    ///
    /// - Throws: Any error if they were encrypted with another key or for another context, or are damaged. A record or a change is set aside
    ///   then, and a response counts as not found.
    func open(_ sealed: [UInt8], for context: [UInt8]) throws -> [UInt8]
}

/// Seals the payloads of a journal, if its owner has a sealing.
struct PayloadCoder: Sendable {
    /// The first byte of a payload that is sealed. Owners of journals store JSON, which begins with another byte.
    private static let mark: UInt8 = 0

    var sealing: (any PayloadSealing)?

    /// An entry as it is stored.
    ///
    /// - Throws: ``StorageError/Kind/unavailable`` if the payload can't be sealed now.
    func sealed(_ entry: JournalEntry) throws(StorageError) -> JournalEntry {
        guard let sealing else { return entry }
        var sealed = entry
        do {
            sealed.payload = [Self.mark] + (try sealing.seal(entry.payload, for: context(of: entry)))
        } catch {
            // No text of the error is used: it is the app's, and may contain anything.
            throw StorageError(.unavailable, "The contents can't be encrypted now.")
        }
        return sealed
    }

    /// An entry as its owner stored it, without a payload if that can't be opened.
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
