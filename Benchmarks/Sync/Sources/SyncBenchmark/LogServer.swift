import Foundation
import RunwayServerStorage
import Synchronization

@testable import RunwayServer
@testable import RunwaySyncCore

/// The log of a space: notes are inserted, and then half of them are changed in one column each.
final class LogServer: Sendable {
    let space = Identifier(UUID())
    private let service: SyncService
    private struct State {
        var order: [UUID] = []
        var changeCount = 0
        /// The requests for pages in their order, with the bytes of their responses.
        var recorded: [(request: SyncRequest, body: [UInt8])] = []
    }
    /// Guards what the log has.
    private let state = Mutex(State())

    init(at file: URL) throws {
        // Its commits are not measured, and do not wait for the drive.
        var limits = ActionLogWriterLimits()
        limits.survivesPowerLoss = false
        service = SyncService(store: try SyncStore.sqlite(at: file, limits: limits)) { _, _, _ in true }
    }

    var order: [UUID] { state.withLock { $0.order } }
    var changeCount: Int { state.withLock { $0.changeCount } }
    var recorded: [(request: SyncRequest, body: [UInt8])] { state.withLock { $0.recorded } }

    func fill(_ count: Int, rowsInTransaction size: Int) async throws {
        let (list, ids) = (UUID(space), (0..<count).map { _ in UUID() })
        for start in stride(from: 0, to: count, by: size) {
            try await service.write(in: list) { writer in
                for number in start..<start + size { writer.set(Note(number).columns, of: ids[number], in: "note") }
            }
        }
        let changed = (0..<count / 2).map { _ in ids[Int.random(in: 0..<count)] }
        for start in stride(from: 0, to: count / 2, by: size) {
            try await service.write(in: list) { writer in
                for number in start..<start + size {
                    writer.set(["title": .text("Another title, of \(number)")], of: changed[number], in: "note")
                }
            }
        }
        state.withLock { ($0.order, $0.changeCount) = (ids, count + count / 2) }
    }

    /// Returns the bytes of the response to a pull. Those for the first device serve all others.
    func respond(to request: SyncRequest) async throws -> [UInt8] {
        guard case .pull(let pull) = request else { preconditionFailure("the device has nothing to send") }
        let number = pull.cursor.number
        let known = state.withLock { state in
            state.recorded.first {
                if case .pull(let other) = $0.request { other.cursor.number == number } else { false }
            }
        }
        if let known { return known.body }
        let body = try await service.respond(to: request, in: space, as: "ada", byteCount: 0).wire.body
        state.withLock { $0.recorded.append((request, body)) }
        return body
    }
}
