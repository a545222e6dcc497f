import Foundation
import RunwaySyncCore

/// One request of a device inside a transaction of the store.
struct SyncExchange: Sendable {
    /// A hook refused a transaction. The transaction of the store has to be rolled back.
    struct Refused: Error {
        let transaction: Identifier
        let refusal: SyncRefusal
    }

    struct Result: Sendable {
        let response: SyncResponse
        /// The head of the log if it has grown.
        let head: Int64?
    }

    private let request: SyncRequest
    private let space: Identifier
    private let subject: String
    private let rights: SyncService.Rights
    private let logLimits: SyncLogLimits
    /// Decides on the request by the rules of the space, and refuses the transactions that the app's hook has refused.
    var server: SpaceServer

    /// The largest number of transactions of one packet that a hook may refuse.
    static let maximumRefusals = 8
    /// The largest number of device ids of one subject in one space, closed ones included.
    static let maximumDevices = 1_000

    /// The largest number of rows of a space for which operations of one subject may wait. The limit prevents one
    /// member from using up what the others need after a restore.
    static let maximumWaitingRows = 10_000

    init(
        _ request: SyncRequest, in space: Identifier, as subject: String, _ server: SpaceServer,
        _ rights: @escaping SyncService.Rights, _ logLimits: SyncLogLimits
    ) {
        (self.request, self.space, self.subject) = (request, space, subject)
        (self.server, self.rights, self.logLimits) = (server, rights, logLimits)
    }

    func run(_ tables: inout any SyncTables) throws -> Result {
        let device = request.device
        if let owner = try tables.subject(of: device), owner != subject {
            return Result(response: .deviceTaken, head: nil)
        }
        if case .push = request, !rights(subject, UUID(space), .read) {
            // The right was withdrawn while the request waited for the lock.
            return Result(response: try Self.revoked(device, subject, &tables, closes: true).response, head: nil)
        }
        if case .push = request, try tables.subject(of: device) == nil,
            try tables.deviceCount(of: subject, upTo: Self.maximumDevices) >= Self.maximumDevices
        {
            return Result(response: .tooManyDevices, head: nil)
        }
        let (response, changes) = try server.handle(request, at: try tables.now, over: &tables)
        if let transaction = try transactionThatWaitsInVain(changes, tables) {
            throw Refused(transaction: transaction, refusal: SyncRefusal(Refusal.tooMany.name))
        }
        if changes.devices[device] != nil { try tables.setSubject(subject, of: device) }
        for entry in changes.entries {
            do {
                try tables.notifyHook(of: SyncCommit(entry, in: space, by: subject, over: tables))
            } catch let refusal as SyncRefusal {
                throw Refused(transaction: entry.transaction, refusal: refusal)
            }
        }
        guard let first = changes.entries.first, let last = changes.entries.last else {
            return Result(response: response, head: nil)
        }
        if (first.number - 1) / SyncLogLimits.interval < last.number / SyncLogLimits.interval {
            _ = try tables.trim(logLimits)
        }
        return Result(response: response, head: last.number)
    }

    /// Returns the last transaction of the request with an operation that waits beside a row, if operations of the
    /// subject wait beside too many rows of the space; `nil` otherwise.
    private func transactionThatWaitsInVain(_ changes: SpaceContent, _ tables: any SyncTables) throws -> Identifier? {
        guard case .push(let packet) = request else { return nil }
        let waiting = Set(changes.waiting.values.joined().map(\.operation.id))
        let last = packet.transactions.last { $0.operations.contains { waiting.contains($0.id) } }
        guard let last else { return nil }
        let count = try tables.waitingRowCount(of: subject, upTo: Self.maximumWaitingRows + 1)
        return count > Self.maximumWaitingRows ? last.id : nil
    }

    /// Returns the response to a device that may not use the space, and whether the id of the device is still open
    /// afterwards. If `closes` is `true`, an open id is closed.
    static func revoked(
        _ device: Identifier, _ subject: String, _ tables: inout any SyncTables, closes: Bool
    ) throws -> (response: SyncResponse, isOpen: Bool) {
        if let owner = try tables.subject(of: device), owner != subject { return (.deviceTaken, false) }
        var needs = SpaceNeeds()
        needs.devices = [device]
        guard var record = try tables.content(for: needs).devices[device] else { return (.revoked([]), false) }
        let response = SyncResponse.revoked(record.lastPacket)
        if record.isClosed || !closes { return (response, !record.isClosed) }
        record.isClosed = true
        var changes = SpaceContent()
        changes.devices[device] = record
        try tables.save(changes)
        return (response, false)
    }
}

extension SyncRequest {
    var access: SyncTransactionAccess {
        if case .push = self { .writing } else { .reading }
    }

    var device: Identifier {
        switch self {
        case .push(let packet): packet.device
        case .pull(let request): request.device
        case .snapshot(let request): request.device
        }
    }
}
