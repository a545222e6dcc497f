#if Command
    import Runway
    import RunwayJSON

    /// The keys of the values in a row of a property list.
    enum PropertyListKeys {
        static let id = ViewKey<String>("id", in: Self.self)
        static let title = ViewKey<String>("title", in: Self.self)
        static let price = ViewKey<String>("price", in: Self.self)
        static let area = ViewKey<String>("area", in: Self.self)
        static let place = ViewKey<String>("place", in: Self.self)
    }

    /// Converts the lists of all three teams to rows with equal keys, so that one view can show them.
    struct PropertyListReformer: Reformer, Sendable {
        func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> [ViewData] {
            switch endpoint {
            case is SecondHandList, is SecondHandPages:
                try rawData["data"]["list"].require([JSONValue].self).map(secondHandRow)
            case is SecondHandDetail:
                [try secondHandRow(rawData["data"].require())]
            case is RentalList, is Favourites:
                try rawData["result"]["items"].require([JSONValue].self).map { item in
                    let region = item["zf_region"]
                    return try row(
                        id: "\(item["zf_id"].require(Int.self))", title: item["zf_name"].require(),
                        price: "\(item["zf_rent"].require(Int.self)) 元/月", area: item["zf_size_sqm"].require(),
                        place: "\(region["city"].string ?? "")\(region["name"].string ?? "")")
                }
            case is NewHomesList, is NewHomeDetail:
                try rawData["xinfang"].require([JSONValue].self).map { item in
                    try row(
                        id: item["xinfang_id"].require(), title: item["xinfang_headline"].require(),
                        price: item["xinfang_average_price"].require(), area: item["xinfang_area_range"][0].require(),
                        place: "\(item["xinfang_city"].string ?? "")\(item["xinfang_zone"].string ?? "")")
                }
            default:
                throw NetworkError(
                    .invalidResponse, in: .reforming, "A property list can't be made of \(type(of: endpoint)).")
            }
        }

        private func secondHandRow(_ item: JSONValue) throws -> ViewData {
            try row(
                id: item["esf_id"].require(), title: item["esf_title"].require(),
                price: "\(item["esf_total_price"].require(Double.self)) 万", area: item["esf_area"].require(),
                place: "\(item["esf_city"].string ?? "")\(item["esf_district"].string ?? "")")
        }

        private func row(id: String, title: String, price: String, area: Double, place: String) -> ViewData {
            var row = ViewData()
            row[PropertyListKeys.id] = id
            row[PropertyListKeys.title] = title
            row[PropertyListKeys.price] = price
            row[PropertyListKeys.area] = "\(area) ㎡"
            row[PropertyListKeys.place] = place
            return row
        }
    }

    struct MapPin: Sendable, Equatable {
        var latitude: Double
        var longitude: Double
        var label: String
    }

    /// Converts the list of second-hand homes to map pins. ``PropertyListReformer`` converts the same response to rows.
    struct MapPinReformer: Reformer, Sendable {
        func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> [MapPin] {
            try rawData["data"]["list"].require([JSONValue].self).map { item in
                try MapPin(
                    latitude: item["esf_lat"].require(), longitude: item["esf_lng"].require(),
                    label: "\(item["esf_total_price"].require(Double.self)) 万")
            }
        }
    }
#endif
