#if Command
    import Runway
    import RunwayJSON
    import RunwayTables

    /// The second-hand homes of every list that the app has received.
    enum HomeTable: TableDefinition {
        static let name = "home"
        static let id = Column<String>("id"), district = Column<String>("district"), title = Column<String>("title")
        static let price = Column<Double>("price"), area = Column<Double>("area"), place = Column<String>("place")
        static let columns = TableColumns<Self>(id, district, title, price, area, place)
        static let indexes = [Index("homeByDistrict", on: district)]
    }

    /// Homes that the user has saved. The picture of each home is in a file beside the database.
    enum FavouriteTable: TableDefinition {
        static let name = "favourite"
        static let home = Column<String>("home"), note = Column<String>("note"), picture = Column<StoredFile>("picture")
        static let columns = TableColumns<Self>(home, note, picture)
    }

    /// Offers that were not sent.
    enum OfferDraftTable: TableDefinition {
        static let name = "offerDraft"
        static let home = Column<String>("home")
        static let price = Column<Int>("price") { $0 > 0 }
        static let columns = TableColumns<Self>(home, price)
    }

    /// Converts the response with a district's list to rows of ``HomeTable``, and these rows to the rows that the
    /// screen shows.
    struct SecondHandReformer: RowReformer {
        func drafts(in rawData: RawData, from endpoint: any Endpoint) throws -> [Draft] {
            guard let list = endpoint as? SecondHandPages else { return [] }
            return try rawData["data"]["list"].require([JSONValue].self).map { item in
                var row = Values<HomeTable>()
                row[HomeTable.id] = try item["esf_id"].require()
                row[HomeTable.district] = list.district
                row[HomeTable.title] = try item["esf_title"].require()
                row[HomeTable.price] = try item["esf_total_price"].require()
                row[HomeTable.area] = try item["esf_area"].require()
                row[HomeTable.place] = (item["esf_city"].string ?? "") + (item["esf_district"].string ?? "")
                return Draft(row)
            }
        }

        func reform(_ drafts: [Draft]) -> [ViewData] {
            drafts.map { draft in
                var row = ViewData()
                row[PropertyListKeys.id] = draft[HomeTable.id]
                row[PropertyListKeys.title] = draft[HomeTable.title]
                row[PropertyListKeys.price] = draft[HomeTable.price].map { "\($0) 万" }
                row[PropertyListKeys.area] = draft[HomeTable.area].map { "\($0) ㎡" }
                row[PropertyListKeys.place] = draft[HomeTable.place]
                return row
            }
        }
    }

    /// Combines the columns of two tables in one record.
    extension SavedHome: VirtualRecord {
        func write(to draft: inout Draft) {
            draft[FavouriteTable.home] = id
            draft[FavouriteTable.note] = note
        }

        mutating func read(from draft: Draft) {
            id = draft[FavouriteTable.home] ?? ""
            note = draft[FavouriteTable.note] ?? ""
            pictureByteCount = draft[FavouriteTable.picture]?.byteCount ?? 0
            title = draft[HomeTable.title] ?? ""
            price = draft[HomeTable.price].map { "\($0) 万" } ?? ""
        }
    }

    extension OfferDraft: VirtualRecord {
        func write(to draft: inout Draft) {
            draft[OfferDraftTable.home] = home
            draft[OfferDraftTable.price] = price
        }

        mutating func read(from draft: Draft) {
            home = draft[OfferDraftTable.home] ?? ""
            price = draft[OfferDraftTable.price] ?? 0
        }
    }
#endif
