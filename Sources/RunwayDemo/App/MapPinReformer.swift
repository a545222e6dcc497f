#if Command
    import Runway
    import RunwayJSON

    /// A pin on a map.
    struct MapPin: Sendable, Equatable {
        var latitude: Double
        var longitude: Double
        var label: String
    }

    /// Converts the list of second-hand homes to pins: the same response as for the rows, for another view.
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
