import Foundation
import Runway
import RunwayJSON

/// One way from bytes to rows.
struct Peer: Sendable {
    let name: String
    let read: @Sendable ([UInt8], Data) throws -> Int

    static let all: [Peer] = [
        Peer(name: "runway") { bytes, _ in try runwayRows(bytes).count },
        Peer(name: "view-data") { bytes, _ in try viewDataRows(bytes).count },
        Peer(name: "dictionary") { bytes, _ in try dictionaryRows(bytes).count },
        Peer(name: "runway-index") { bytes, _ in try JSONDocument(bytes).byteCount },
        Peer(name: "runway-decoder-full") { bytes, _ in
            try JSONDocumentDecoder().decode(FullResponse.self, from: bytes).rows.count
        },
        Peer(name: "runway-decoder-minimal") { bytes, _ in
            try JSONDocumentDecoder().decode(MinimalResponse.self, from: bytes).rows.count
        },
        Peer(name: "foundation-full") { _, data in try JSONDecoder().decode(FullResponse.self, from: data).rows.count },
        Peer(name: "foundation-minimal") { _, data in
            try JSONDecoder().decode(MinimalResponse.self, from: data).rows.count
        },
        Peer(name: "json-serialization") { _, data in try serializationRows(data).count },
    ]

    private static func runwayRows(_ bytes: [UInt8]) throws -> [Row] {
        let list = try JSONDocument(bytes).root["data"]["list"]
        var rows: [Row] = []
        rows.reserveCapacity(list.count)
        for item in list.elements {
            rows.append(
                Row(
                    title: item["title"].string ?? "", layout: item["layout"].string ?? "",
                    cover: item["cover"].string ?? "", price: item["price"].int ?? 0, area: item["area"].double ?? 0))
        }
        return rows
    }

    /// Rows as reformers make them, each then read as a view reads it.
    private static func viewDataRows(_ bytes: [UInt8]) throws -> [ViewData] {
        let list = try JSONDocument(bytes).root["data"]["list"]
        var rows: [ViewData] = []
        rows.reserveCapacity(list.count)
        var shown = 0
        for item in list.elements {
            var row = ViewData()
            row[RowKeys.title] = item["title"].string
            row[RowKeys.layout] = item["layout"].string
            row[RowKeys.cover] = item["cover"].string
            row[RowKeys.price] = item["price"].int
            row[RowKeys.area] = item["area"].double
            rows.append(row)
            shown += row[RowKeys.title]?.utf8.count ?? 0
            shown += row[RowKeys.layout]?.utf8.count ?? 0
            shown += row[RowKeys.cover]?.utf8.count ?? 0
            shown += row[RowKeys.price] ?? 0
            shown += row[RowKeys.area] == nil ? 0 : 1
        }
        return shown > 0 ? rows : []
    }

    /// The same with dictionaries in the place of `ViewData`.
    private static func dictionaryRows(_ bytes: [UInt8]) throws -> [[String: Any]] {
        let list = try JSONDocument(bytes).root["data"]["list"]
        var rows: [[String: Any]] = []
        rows.reserveCapacity(list.count)
        var shown = 0
        for item in list.elements {
            var row: [String: Any] = [:]
            row["title"] = item["title"].string
            row["layout"] = item["layout"].string
            row["cover"] = item["cover"].string
            row["price"] = item["price"].int
            row["area"] = item["area"].double
            rows.append(row)
            shown += (row["title"] as? String)?.utf8.count ?? 0
            shown += (row["layout"] as? String)?.utf8.count ?? 0
            shown += (row["cover"] as? String)?.utf8.count ?? 0
            shown += row["price"] as? Int ?? 0
            shown += row["area"] as? Double == nil ? 0 : 1
        }
        return shown > 0 ? rows : []
    }

    private static func serializationRows(_ data: Data) throws -> [Row] {
        let root = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        let list = (root?["data"] as? [String: Any])?["list"] as? [[String: Any]] ?? []
        return list.map { item in
            Row(
                title: item["title"] as? String ?? "", layout: item["layout"] as? String ?? "",
                cover: item["cover"] as? String ?? "", price: item["price"] as? Int ?? 0,
                area: item["area"] as? Double ?? 0)
        }
    }
}
