public import Foundation
import RunwaySyncCore

/// A space as its administrator sees it.
public struct SyncSpace: Sendable, Hashable {
    /// The id of the space.
    public let id: UUID
    /// The epoch of the log. It changes only by ``SyncStore/beginEpoch(in:)``.
    public let epoch: UUID
    /// The number of the newest log entry; 0 if there is none.
    public let head: Int64
    /// The number of the newest removed log entry; 0 if there is none.
    public let horizon: Int64
    /// The size of the log in bytes, without its oldest entry.
    public let logByteCount: Int64
}

/// A device of a space as its administrator sees it. A device that never pushed is unknown to the server.
public struct SyncSpaceDevice: Sendable, Hashable {
    /// The id of the device in this space.
    public let id: UUID
    /// The subject to which the id belongs; `nil` for a device of the server.
    public let subject: String?
    /// The number of operations that the device has pushed.
    public let operationCount: Int64
    /// Whether the id was closed: the device has removed the rows of the space, or will.
    public let isClosed: Bool
}

/// Administration, for tools and for the server itself. Each function throws the error of the store.
extension SyncStore {
    /// Returns spaces in the order of their ids.
    ///
    /// - Parameters:
    ///   - space: The last space of the former page. The default is none.
    ///   - count: The largest number of spaces. The default is 100.
    public func spaces(after space: UUID? = nil, upTo count: Int = 100) async throws -> [SyncSpace] {
        var spaces: [SyncSpace] = []
        for id in try await database.spaces(after: space.map { Identifier($0) }, limit: max(count, 1)) {
            if let space = try await self.space(UUID(id)) { spaces.append(space) }
        }
        return spaces
    }

    /// Returns a space; `nil` if it does not exist.
    public func space(_ id: UUID) async throws -> SyncSpace? {
        try await database.transaction(.reading, in: Identifier(id), byteCount: 0) { tables in
            let history = try tables.history
            let newest = try tables.mark(of: history.head.number)?.byteCount ?? 0
            let oldest = try tables.mark(of: history.horizon.number + 1)?.byteCount ?? newest
            return SyncSpace(
                id: id, epoch: UUID(history.epoch), head: history.head.number, horizon: history.horizon.number,
                logByteCount: newest - oldest)
        }
    }

    /// Returns devices of a space in the order of their ids.
    ///
    /// - Parameters:
    ///   - space: The id of the space.
    ///   - device: The last device of the former page. The default is none.
    ///   - count: The largest number of devices. The default is 100.
    public func devices(
        in space: UUID, after device: UUID? = nil, upTo count: Int = 100
    ) async throws -> [SyncSpaceDevice] {
        let first = device.map { Identifier($0) }
        return try await database.transaction(.reading, in: Identifier(space), byteCount: 0) { tables in
            var needs = SpaceNeeds()
            let ids = try tables.devices(after: first, limit: max(count, 1))
            needs.devices = Set(ids)
            let records = try tables.content(for: needs).devices
            return try ids.compactMap { id in
                try records[id].map { record in
                    try SyncSpaceDevice(
                        id: UUID(id), subject: tables.subject(of: id), operationCount: record.end.number,
                        isClosed: record.isClosed)
                }
            }
        } ?? []
    }

    /// Returns entries of the log of a space in the order of their numbers.
    ///
    /// - Parameters:
    ///   - space: The id of the space.
    ///   - number: The number before the first entry. The default begins at the horizon.
    ///   - count: The largest number of entries. The default is 100. Large entries may make the page shorter.
    public func log(of space: UUID, after number: Int64 = 0, upTo count: Int = 100) async throws -> [SyncCommit] {
        let id = Identifier(space)
        return try await database.transaction(.reading, in: id, byteCount: SpaceNeeds.byteLimit) { tables in
            var needs = SpaceNeeds()
            let first = max(number, try tables.history.horizon.number) + 1
            needs.entries = .init(first: first, limit: max(count, 1))
            return try tables.content(for: needs).entries.map { entry in
                try SyncCommit(entry, in: id, by: try tables.subject(of: entry.device), over: tables)
            }
        } ?? []
    }

    /// Removes old entries of the log of a space.
    ///
    /// A ``SyncService`` does so while it runs. Call this for spaces to which nobody writes any more.
    public func trimLog(of space: UUID, to limits: SyncLogLimits) async throws {
        guard try await self.space(space) != nil else { return }
        func removesMore() async throws -> Bool {
            try await database.transaction(.writing, in: Identifier(space), byteCount: 0) { try $0.trim(limits) }
                ?? false
        }
        while try await removesMore() {}
    }

    /// Begins a new epoch of a space after its store was restored from a backup. Devices then send the operations again
    /// that the backup lacks. Call it before the server runs again. Creates the space if it does not exist.
    ///
    /// Without this call, a device notices the restore only when the log is longer than its cursor.
    ///
    /// - Returns: The new epoch.
    @discardableResult
    public func beginEpoch(in space: UUID) async throws -> UUID {
        let epoch = UUID()
        _ = try await database.transaction(.writing, in: Identifier(space), byteCount: 0) { tables in
            var changes = SpaceContent()
            changes.history = try tables.history
            changes.history?.begin(Identifier(epoch))
            try tables.save(changes)
        }
        return epoch
    }

    /// Records which entries of the log a backup of the store contains. Devices then remove acknowledged changes up to
    /// `number`, which they otherwise hold for 30 days in case the store is restored. Does nothing if there is no such
    /// space.
    ///
    /// - Parameters:
    ///   - space: The id of the space.
    ///   - number: The head of the space in the backup (``SyncSpace/head``). A smaller number than the last one, or one
    ///     past the head, changes nothing.
    public func markBackup(of space: UUID, through number: Int64) async throws {
        guard try await self.space(space) != nil else { return }
        _ = try await database.transaction(.writing, in: Identifier(space), byteCount: 0) { tables in
            var history = try tables.history
            guard number > history.backup, number <= history.head.number else { return }
            history.backup = number
            var changes = SpaceContent()
            changes.history = history
            try tables.save(changes)
        }
    }

    /// Closes the id of a device in a space. The device removes the rows of the space at its next request, and shows
    /// what it had not sent as refused. If its subject may still read the space, it returns under another id.
    ///
    /// - Returns: Whether the space has the device.
    @discardableResult
    public func close(device: UUID, in space: UUID) async throws -> Bool {
        let id = Identifier(device)
        return try await database.transaction(.writing, in: Identifier(space), byteCount: 0) { tables in
            var changes = SpaceContent()
            var needs = SpaceNeeds()
            needs.devices = [id]
            changes.devices = try tables.content(for: needs).devices
            changes.devices[id]?.isClosed = true
            try tables.save(changes)
            return changes.devices[id] != nil
        } ?? false
    }
}
