import GRDB

import struct Foundation.URL

/// The rows of a response, and the way in which they change tables.
struct LandedRows: Sendable {
    /// The number of the call.
    let flight: UInt64
    let rows: [RowValues]
    /// The list to which the rows belong; `nil` if it is unknown.
    let list: LandedList?
    /// Whether rows that exist in the table stay as they are.
    let addsOnly: Bool
    /// Whether the rows are the whole list. Other rows of the list are then deleted.
    let isWholeList: Bool
}

/// The rows of a table that meet a condition.
struct LandedList: Sendable {
    let layout: TableLayout
    let condition: String
    let arguments: [DatabaseValue]
}

extension TableWriter {
    /// Saves the rows of a response, and deletes the rows that left its list. Rows that a newer response has landed
    /// stay as they are.
    ///
    /// - Throws: The errors of ``insert(_:)``.
    func land(_ landed: LandedRows, in file: URL, _ order: LandingOrder) throws {
        typealias Place = LandingOrder.Place
        let list = landed.list.map {
            Place(file: file, table: $0.layout.name, condition: $0.condition, values: $0.arguments)
        }
        if let list, order.isNewer(list, than: landed.flight) { return }
        var (places, keys): ([Place], Set<Place>) = ([], [])
        for row in landed.rows {
            let key = try row.key()
            let place = Place(file: file, table: row.layout.name, values: key)
            keys.insert(place)
            if order.isNewer(place, than: landed.flight) { continue }
            if landed.addsOnly, try exists(row.layout, key) { continue }
            _ = try save(row)
            if !landed.addsOnly { places.append(place) }
        }
        if landed.isWholeList, let list, let scope = landed.list {
            let (layout, positions) = (scope.layout, Array(0..<scope.layout.keyCount))
            let sql = layout.selectSQL(positions) + " WHERE " + scope.condition
            for row in try sealedRows(layout, positions, sql, scope.arguments) {
                let key = try row.key()
                let place = Place(file: file, table: layout.name, values: key)
                if keys.contains(place) || order.isNewer(place, than: landed.flight) { continue }
                try connection.cachedStatement(sql: "DELETE FROM \(layout.quotedName) WHERE \(layout.keyCondition)")
                    .execute(arguments: StatementArguments(key))
                places.append(place)
            }
            places.append(list)
        }
        connection.afterNextTransaction { [places] _ in order.landed(landed.flight, at: places) }
    }
}
