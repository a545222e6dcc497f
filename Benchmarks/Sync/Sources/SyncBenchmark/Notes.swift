import Foundation
import Runway
import RunwayTables

@testable import RunwaySync
@testable import RunwaySyncCore

/// The service of the benchmark's servers.
enum Backend: APIService {
    static let environments: [ServiceEnvironment: String] = [:]
    static let allowsPlainHTTP = true
}

/// The table of all parts.
enum Notes: SyncedTable {
    static let name = "note"
    static let id = Column<UUID>("id"), list = Column<UUID>("listId")
    static let title = Column<String>("title", default: ""), text = Column<String?>("text")
    static let rating = Column<Int>("rating", default: 0), weight = Column<Double>("weight", default: 0)
    static let columns = TableColumns<Self>(id, list, title, text, rating, weight)
    static let sync = Synced(space: list)
}

/// The same table in a file that is not synchronised.
enum PlainNotes: RunwayTables.TableDefinition {
    static let name = "note"
    static let columns = TableColumns<Self>(
        Column<UUID>("id"), Column<UUID>("listId"), Column<String>("title", default: ""), Column<String?>("text"),
        Column<Int>("rating", default: 0), Column<Double>("weight", default: 0))
}

/// A note with 110 to 120 bytes of text.
struct Note: Sendable {
    let id: UUID
    let title: String
    let text = "The text of a note, which has the length that people give to it: a sentence or two of them."
    let rating: Int
    let weight: Double

    init(_ number: Int, id: UUID = UUID()) {
        (self.id, title, rating, weight) = (id, "The title of note \(number)", number % 10, Double(number) / 7)
    }

    func values(in list: UUID) -> Values<Notes> {
        var values = Values<Notes>()
        values[Notes.id] = id
        values[Notes.list] = list
        values[Notes.title] = title
        values[Notes.text] = text
        values[Notes.rating] = rating
        values[Notes.weight] = weight
        return values
    }

    var columns: [String: SyncValue] {
        ["title": .text(title), "text": .text(text), "rating": .integer(Int64(rating)), "weight": .real(weight)]
    }
}

/// A device that inserts and updates notes of its own, without a file.
struct PushingDevice {
    private let id = Identifier(UUID())
    private var end = ChainEnd()
    private var count = 0
    /// The number of notes that are changed in turn.
    private let noteCount = 1_000

    /// Returns a packet of transactions with one operation each, or of one transaction with several.
    mutating func packet(_ transactionCount: Int, of operationCount: Int = 1) -> Packet {
        let transactions = (0..<transactionCount).map { _ in
            let operations = (0..<operationCount).map { _ in operation() }
            let transaction = Transaction(
                number: end.number + 1, previous: end.operation, time: HybridTime(milliseconds: 1_790_000_000_000),
                basis: Basis(epoch: Identifier(high: 0, low: 0), number: 0), operations: operations)
            end = transaction.end
            return transaction
        }
        return Packet(device: id, transactions: transactions)
    }

    private mutating func operation() -> RunwaySyncCore.Operation {
        count += 1
        let key = RowKey("note", Identifier(high: id.high, low: UInt64(count % noteCount)))
        let columns = Columns(Note(count).columns.map { ($0.key, $0.value) })
        return RunwaySyncCore.Operation(id: Identifier(UUID()), action: .insert(key, life: 1, columns))
    }
}
