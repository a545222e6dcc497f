import Runway
import RunwayJSON
import RunwayTables

/// Homes of lists that have landed.
enum RentalTable: TableDefinition {
    static let name = "rental"
    static let id = Column<Int>("id"), city = Column<String>("city"), title = Column<String>("title")
    static let columns = TableColumns<Self>(id, city, title)
}

/// Homes that the user has saved, with pictures in files beside the rows.
enum FavouriteTable: TableDefinition {
    static let name = "favourite"
    static let rental = Column<Int>("rental"), title = Column<String>("title")
    static let note = Column<String>("note", default: ""), picture = Column<StoredFile?>("picture")
    static let columns = TableColumns<Self>(rental, title, note, picture)
}

/// Messages that were not sent.
enum MessageDraftTable: TableDefinition {
    static let name = "messageDraft"
    static let rental = Column<Int>("rental"), text = Column<String>("text") { !$0.isEmpty }
    static let columns = TableColumns<Self>(rental, text)
}

/// Reads the rows of a list, from a response and from the table.
struct RentalReformer: RowReformer {
    func drafts(in rawData: RawData, from endpoint: any Endpoint) throws -> [Draft] {
        guard let list = endpoint as? RentalList else { return [] }
        return try rawData["items"].require([JSONValue].self).map { item in
            var row = Values<RentalTable>()
            row[RentalTable.id] = try item["id"].require()
            row[RentalTable.city] = list.city
            row[RentalTable.title] = item["title"].string ?? "A home"
            return Draft(row)
        }
    }

    func reform(_ drafts: [Draft]) -> [RentalRow] {
        drafts.compactMap { draft in
            draft[RentalTable.id].map { RentalRow(id: $0, title: draft[RentalTable.title] ?? "") }
        }
    }
}

extension SavedRental: VirtualRecord {
    func write(to draft: inout Draft) {
        draft[FavouriteTable.rental] = id
        draft[FavouriteTable.title] = title
        draft[FavouriteTable.note] = note
    }

    mutating func read(from draft: Draft) {
        id = draft[FavouriteTable.rental] ?? 0
        title = draft[FavouriteTable.title] ?? ""
        note = draft[FavouriteTable.note] ?? ""
        hasPicture = draft[FavouriteTable.picture] != nil
    }
}

extension MessageDraft: VirtualRecord {
    func write(to draft: inout Draft) {
        draft[MessageDraftTable.rental] = rental
        draft[MessageDraftTable.text] = text
    }

    mutating func read(from draft: Draft) {
        rental = draft[MessageDraftTable.rental] ?? 0
        text = draft[MessageDraftTable.text] ?? ""
    }
}
