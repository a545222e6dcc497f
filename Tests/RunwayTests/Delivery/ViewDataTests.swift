import Runway
import Testing

enum PropertyRowKeys {
    static let title = ViewKey<String>("title", in: Self.self)
    static let price = ViewKey<Int>("price", in: Self.self)
    static let tags = ViewKey<[String]>("tags", in: Self.self)
}

enum MapPinKeys {
    static let title = ViewKey<String>("title", in: Self.self)
    static let price = ViewKey<String>("price", in: Self.self)
}

struct ViewDataTests {
    @Test func valueIsReadByItsTypedKey() {
        var row = ViewData()
        row[PropertyRowKeys.title] = "复式"
        row[PropertyRowKeys.price] = 4200
        row[PropertyRowKeys.tags] = ["a", "b"]
        let title: String? = row[PropertyRowKeys.title]
        let price: Int? = row[PropertyRowKeys.price]
        #expect(title == "复式" && price == 4200 && row[PropertyRowKeys.tags] == ["a", "b"])
        #expect(row.count == 3)
    }

    @Test func equalWordsOfTwoSpacesNeverCollide() {
        var row = ViewData()
        row[PropertyRowKeys.title] = "row"
        #expect(row[MapPinKeys.title] == nil)
        row[MapPinKeys.title] = "pin"
        row[MapPinKeys.price] = "4 200"
        row[PropertyRowKeys.price] = 4200
        #expect(row[PropertyRowKeys.title] == "row" && row[MapPinKeys.title] == "pin")
        #expect(row[PropertyRowKeys.price] == 4200 && row[MapPinKeys.price] == "4 200")
        #expect(row.count == 4)
    }

    @Test func namesCarryTheReformersSpace() {
        #expect(PropertyRowKeys.title.name.hasSuffix("PropertyRowKeys.title"))
        #expect(PropertyRowKeys.title != MapPinKeys.title)
        #expect(PropertyRowKeys.title == ViewKey<String>("title", in: PropertyRowKeys.self))
    }

    @Test func settingAgainReplacesAndSettingNilRemoves() {
        var row = ViewData()
        row[PropertyRowKeys.title] = "a"
        row[PropertyRowKeys.title] = "b"
        #expect(row[PropertyRowKeys.title] == "b" && row.count == 1)
        row[PropertyRowKeys.title] = nil
        #expect(row[PropertyRowKeys.title] == nil && row.count == 0)
        row[PropertyRowKeys.title] = nil
        #expect(row.count == 0)
    }

    @Test func keyOfAnotherTypeReadsNothing() {
        var row = ViewData()
        row[ViewKey<Int>("x", in: PropertyRowKeys.self)] = 1
        #expect(row[ViewKey<String>("x", in: PropertyRowKeys.self)] == nil)
        #expect(row[ViewKey<Int>("x", in: PropertyRowKeys.self)] == 1)
    }

    @Test func copiesAreValues() {
        var row = ViewData()
        row[PropertyRowKeys.price] = 1
        let copy = row
        row[PropertyRowKeys.price] = 2
        #expect(copy[PropertyRowKeys.price] == 1)
    }
}
