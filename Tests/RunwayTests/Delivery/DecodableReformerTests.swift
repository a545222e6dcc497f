import Foundation
import Runway
import RunwayJSON
import Testing

struct DecodableReformerTests {
    private struct Rental: Decodable, Equatable {
        var title: String
        var price: Decimal
        var rooms: Int?
    }

    private func raw(_ text: String) -> RawData { RawData(Array(text.utf8)) }

    @Test func modelIsDecodedAtItsPath() throws {
        let raw = raw(#"{"data":{"list":[{"title":"阁楼","price":4200.5},{"title":"b","price":1,"rooms":3}]}}"#)
        let rentals = try DecodableReformer([Rental].self, at: "data", "list").reform(raw, from: BookSearch())
        #expect(
            rentals == [
                Rental(title: "阁楼", price: Decimal(string: "4200.5") ?? 0, rooms: nil),
                Rental(title: "b", price: 1, rooms: 3),
            ])
    }

    @Test func withoutAPathTheModelIsTheRoot() throws {
        #expect(try DecodableReformer([Int].self).reform(raw("[1,2]"), from: BookSearch()) == [1, 2])
    }

    @Test func missingPathIsNamed() throws {
        let reformer = DecodableReformer([Int].self, at: "data", "list")
        let error = try #require(throws: JSONError.self) {
            try reformer.reform(raw(#"{"data":{}}"#), from: BookSearch())
        }
        #expect(error.kind == .missing && error.path == "data.list")
    }

    @Test func bodyWithoutJSONExplainsItsError() throws {
        let reformer = DecodableReformer([Int].self)
        let error = try #require(throws: JSONError.self) { try reformer.reform(raw("[1,"), from: BookSearch()) }
        #expect(error.kind == .syntax)
    }

    @Test func mismatchedModelIsADecodingError() {
        let reformer = DecodableReformer(Rental.self)
        #expect(throws: DecodingError.self) {
            try reformer.reform(raw(#"{"title":1,"price":2}"#), from: BookSearch())
        }
    }

    @Test func oneReformerServesManyAPIsByEndpoint() throws {
        struct Titles: Reformer {
            func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> [String] {
                switch endpoint {
                case is BookSearch: rawData["books"].elements.compactMap(\.["title"].string)
                case let list as PaintingList:
                    rawData["result"].elements.compactMap { "\(list.room): \($0.string ?? "")" }
                default: []
                }
            }
        }
        #expect(try Titles().reform(raw(#"{"books":[{"title":"Momo"}]}"#), from: BookSearch()) == ["Momo"])
        #expect(try Titles().reform(raw(#"{"result":["Sunflowers"]}"#), from: PaintingList()) == ["7: Sunflowers"])
    }
}
