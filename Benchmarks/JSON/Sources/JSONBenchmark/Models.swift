import Runway

/// The keys of what a view shows of an item.
enum RowKeys {
    static let title = ViewKey<String>("title", in: Self.self)
    static let layout = ViewKey<String>("layout", in: Self.self)
    static let cover = ViewKey<String>("cover", in: Self.self)
    static let price = ViewKey<Int>("price", in: Self.self)
    static let area = ViewKey<Double>("area", in: Self.self)
}

/// What a view shows of an item.
struct Row {
    var title: String
    var layout: String
    var cover: String
    var price: Int
    var area: Double
}

/// Models of all members of the response.
struct FullResponse: Decodable {
    struct Body: Decodable {
        var total: Int
        var list: [Item]
    }
    struct District: Decodable {
        var id: Int
        var name: String
    }
    struct Community: Decodable {
        var id: Int
        var name: String
        var address: String
    }
    struct Subway: Decodable {
        var line: String
        var station: String
        var distance: Int
    }
    struct Agent: Decodable {
        var id: String
        var name: String
        var phone: String
        var score: Double
    }
    struct Item: Decodable {
        var id: Int
        var title: String
        var subtitle: String
        var type: String
        var price: Int
        var unitPrice: Double
        var area: Double
        var layout: String
        var floor: String
        var orientation: String
        var decoration: String
        var builtYear: Int
        var district: District
        var community: Community
        var location: [Double]
        var tags: [String]
        var images: [String]
        var cover: String
        var subway: [Subway]
        var agent: Agent
        var description: String
        var isNew: Bool
        var isVip: Bool
        var virtualTour: String?
        var updatedAt: String

        enum CodingKeys: String, CodingKey {
            case id, title, subtitle, type, price, area, layout, floor, orientation, decoration, district, community
            case location, tags, images, cover, subway, agent, description
            case unitPrice = "unit_price"
            case builtYear = "built_year"
            case isNew = "is_new"
            case isVip = "is_vip"
            case virtualTour = "virtual_tour"
            case updatedAt = "updated_at"
        }
    }
    var code: Int
    var message: String
    var data: Body

    var rows: [Row] {
        data.list.map { Row(title: $0.title, layout: $0.layout, cover: $0.cover, price: $0.price, area: $0.area) }
    }
}

/// Models of only what is shown.
struct MinimalResponse: Decodable {
    struct Body: Decodable { var list: [Item] }
    struct Item: Decodable {
        var title: String
        var layout: String
        var price: Int
        var area: Double
        var cover: String
    }
    var data: Body

    var rows: [Row] {
        data.list.map { Row(title: $0.title, layout: $0.layout, cover: $0.cover, price: $0.price, area: $0.area) }
    }
}
