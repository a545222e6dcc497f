#if Command
    /// A development as the new-homes team writes it: prices as text, coordinates as `[longitude, latitude]`,
    /// arrays within arrays.
    struct NewHomeItem: Encodable {
        struct Building: Encodable {
            let name: String
            let storeys: Int
            let units: Int
        }

        struct RoomType: Encodable {
            let type: String
            let square_metres: [Double]
            let plans: [[String]]
        }

        struct Adviser: Encodable {
            let name: String
            let phone: String
        }

        let xinfang_id: String
        let xinfang_headline: String
        let xinfang_headline_en: String
        let xinfang_about: String
        let xinfang_picture: String
        let xinfang_album: [[String]]
        /// Such as `48,200元/㎡`.
        let xinfang_average_price: String
        let xinfang_area_range: [Double]
        let xinfang_room_types: [RoomType]
        let xinfang_storeys: Int
        let xinfang_facing: String
        let xinfang_completion: String
        let xinfang_city: String
        let xinfang_zone: String
        let xinfang_zone_en: String
        let xinfang_project: String
        let xinfang_project_en: String
        let xinfang_site: String
        let xinfang_coordinate: [Double]
        let xinfang_transport: [String]
        let xinfang_features: [String]
        let xinfang_buildings: [Building]
        let xinfang_developer: String
        let xinfang_adviser: Adviser
        let xinfang_on_sale: Bool
        let xinfang_updated: Int

        init(_ listing: Listing) {
            let largest = (listing.squareMetres * 14).rounded() / 10
            xinfang_id = "\(Self.prefix)\(listing.number)"
            xinfang_headline = listing.title.chinese
            xinfang_headline_en = listing.title.english
            xinfang_about = listing.description.chinese
            xinfang_picture = listing.imageURLs[0]
            xinfang_album = [Array(listing.imageURLs.prefix(2)), Array(listing.imageURLs.dropFirst(2))]
            xinfang_average_price = Self.yuan(listing.price) + "元/㎡"
            xinfang_area_range = [listing.squareMetres, largest]
            xinfang_room_types = [listing.rooms, listing.rooms + 1].map { rooms in
                RoomType(
                    type: "\(rooms)室\(listing.halls)厅", square_metres: [listing.squareMetres, largest],
                    plans: [["A\(rooms)", "B\(rooms)"], ["C\(rooms)"]])
            }
            xinfang_storeys = listing.totalLevels
            xinfang_facing = listing.orientation.chinese
            xinfang_completion = "\(listing.yearBuilt)-\(["03", "06", "09", "12"][listing.number % 4])"
            xinfang_city = listing.city.name.chinese
            xinfang_zone = listing.district.name.chinese
            xinfang_zone_en = listing.district.name.english
            xinfang_project = listing.community.chinese
            xinfang_project_en = listing.community.english
            xinfang_site = listing.address
            xinfang_coordinate = [listing.longitude, listing.latitude]
            xinfang_transport = listing.metro.map { ["地铁\($0.line)号线", $0.station.chinese, "\($0.walkMinutes)"] } ?? []
            xinfang_features = listing.tags.map(\.chinese)
            xinfang_buildings = (1...2).map {
                Building(name: "\($0)号楼", storeys: listing.totalLevels, units: listing.totalLevels * 2 * $0)
            }
            xinfang_developer = listing.agent.agency.chinese
            xinfang_adviser = Adviser(name: listing.agent.name.chinese, phone: listing.agent.phone)
            xinfang_on_sale = listing.isVerified
            xinfang_updated = listing.publishedAt
        }

        private static let prefix = "xf-"

        /// The listing number of a `xinfang_id`; `nil` if `id` is invalid.
        static func number(of id: String) -> Int? {
            guard id.hasPrefix(prefix), let value = Int(id.dropFirst(prefix.count)), value > 0 else { return nil }
            return value
        }

        /// `amount` with a comma between thousands.
        private static func yuan(_ amount: Int) -> String {
            let digits = String(amount)
            let head = digits.count % 3
            var groups = head == 0 ? [] : [String(digits.prefix(head))]
            var rest = digits.dropFirst(head)
            while !rest.isEmpty {
                groups.append(String(rest.prefix(3)))
                rest = rest.dropFirst(3)
            }
            return groups.joined(separator: ",")
        }
    }
#endif
