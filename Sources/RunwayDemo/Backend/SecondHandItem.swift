#if Command
    import Foundation

    /// A listing in the second-hand team's format: every key begins with `esf_`, and most values are at the top level.
    struct SecondHandItem: Encodable {
        struct Floor: Encodable {
            let esf_level: Int
            let esf_total_levels: Int
        }

        struct Agent: Encodable {
            let esf_agent_name: String
            let esf_agent_name_en: String
            let esf_agent_company: String
            let esf_agent_phone: String
            let esf_agent_rating: Double
        }

        let esf_id: String
        let esf_title: String
        let esf_title_en: String
        let esf_description: String
        let esf_image_url: String
        let esf_images: [String]
        /// 万, so that 523.4 is 5 234 000 yuan.
        let esf_total_price: Double
        /// Yuan a square metre.
        let esf_unit_price: Int
        let esf_area: Double
        let esf_rooms: Int
        let esf_halls: Int
        let esf_baths: Int
        let esf_floor: Floor
        let esf_orientation: String
        let esf_year_built: Int
        let esf_city: String
        let esf_district: String
        let esf_district_en: String
        let esf_community: String
        let esf_address: String
        let esf_lat: Double
        let esf_lng: Double
        /// Line, station and minutes on foot; null when no station is near.
        let esf_metro: String?
        let esf_tags: [String]
        let esf_agent: Agent
        /// RFC 3339, in UTC.
        let esf_listed_at: String
        let esf_has_video: Bool
        let esf_verified: Bool

        init(_ listing: Listing) {
            esf_id = "E\(Self.firstNumber + listing.number)"
            esf_title = listing.title.chinese
            esf_title_en = listing.title.english
            esf_description = listing.description.chinese
            esf_image_url = listing.imageURLs[0]
            esf_images = listing.imageURLs
            esf_total_price = Double(listing.price / 1000) / 10
            esf_unit_price = Int((Double(listing.price) / listing.squareMetres).rounded())
            esf_area = listing.squareMetres
            esf_rooms = listing.rooms
            esf_halls = listing.halls
            esf_baths = listing.baths
            esf_floor = Floor(esf_level: listing.level, esf_total_levels: listing.totalLevels)
            esf_orientation = listing.orientation.chinese
            esf_year_built = listing.yearBuilt
            esf_city = listing.city.name.chinese
            esf_district = listing.district.name.chinese
            esf_district_en = listing.district.name.english
            esf_community = listing.community.chinese
            esf_address = listing.address
            esf_lat = listing.latitude
            esf_lng = listing.longitude
            esf_metro = listing.metro.map { "\($0.line)号线\($0.station.chinese)站 步行\($0.walkMinutes)分钟" }
            esf_tags = listing.tags.map(\.chinese)
            esf_agent = Agent(
                esf_agent_name: listing.agent.name.chinese, esf_agent_name_en: listing.agent.name.english,
                esf_agent_company: listing.agent.agency.chinese, esf_agent_phone: listing.agent.phone,
                esf_agent_rating: listing.agent.rating)
            esf_listed_at = Date(timeIntervalSince1970: Double(listing.publishedAt)).formatted(.iso8601)
            esf_has_video = listing.hasVideo
            esf_verified = listing.isVerified
        }

        private static let firstNumber = 100_000

        /// The listing number of an `esf_id`; `nil` if `id` is invalid.
        static func number(of id: String) -> Int? {
            guard id.first == "E", let value = Int(id.dropFirst()), value > firstNumber else { return nil }
            return value - firstNumber
        }
    }
#endif
