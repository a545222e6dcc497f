#if Command
    /// A listing as the rental team writes it: numbers for ids and times, text for coordinates, objects within objects.
    struct RentalItem: Encodable {
        struct Photo: Encodable {
            let url: String
            let width: Int
            let height: Int
        }

        struct Location: Encodable {
            let lat: String
            let lon: String
        }

        struct Region: Encodable {
            let city: String
            let code: String
            let name: String
            let name_en: String
        }

        struct Metro: Encodable {
            let line: Int
            let station: String
            let walk_minutes: Int
        }

        struct Contact: Encodable {
            let name: String
            let company: String
            let phone: String
            let score: Double
        }

        let zf_id: Int
        let zf_name: String
        let zf_subtitle: String
        let zf_intro: String
        /// Yuan a month.
        let zf_rent: Int
        let zf_deposit_months: Int
        let zf_cover: String
        let zf_photos: [Photo]
        let zf_size_sqm: Double
        /// Such as `3室1厅2卫`.
        let zf_layout: String
        /// `整租` for the whole flat, `合租` for a room of it.
        let zf_mode: String
        let zf_floor: String
        let zf_direction: String
        let zf_region: Region
        let zf_estate: String
        let zf_street: String
        let zf_location: Location
        let zf_metro: Metro?
        let zf_facilities: [String]
        let zf_labels: [[String]]
        let zf_contact: Contact
        /// Seconds since 1970-01-01T00:00:00Z.
        let zf_published: Int
        let zf_min_months: Int
        let zf_pets: Int
        let zf_checked: Bool
        let zf_has_video: Bool

        init(_ listing: Listing) {
            zf_id = Self.firstNumber + listing.number
            zf_name = listing.title.chinese
            zf_subtitle = listing.title.english
            zf_intro = listing.description.chinese
            zf_rent = listing.price
            zf_deposit_months = 1 + listing.number % 3
            zf_cover = listing.imageURLs[0]
            zf_photos = listing.imageURLs.map { Photo(url: $0, width: 1280, height: 960) }
            zf_size_sqm = listing.squareMetres
            zf_layout = "\(listing.rooms)室\(listing.halls)厅\(listing.baths)卫"
            zf_mode = listing.rooms > 3 ? "合租" : "整租"
            zf_floor = "\(listing.level)/\(listing.totalLevels)层"
            zf_direction = listing.orientation.english
            zf_region = Region(
                city: listing.city.name.chinese, code: listing.district.code, name: listing.district.name.chinese,
                name_en: listing.district.name.english)
            zf_estate = listing.community.chinese
            zf_street = listing.address
            zf_location = Location(lat: "\(listing.latitude)", lon: "\(listing.longitude)")
            zf_metro = listing.metro.map {
                Metro(line: $0.line, station: $0.station.chinese, walk_minutes: $0.walkMinutes)
            }
            zf_facilities = ListingVocabulary.facilities.prefix(2 + listing.number % 5).map(\.chinese)
            zf_labels = listing.tags.map { [$0.chinese, $0.english] }
            zf_contact = Contact(
                name: listing.agent.name.chinese, company: listing.agent.agency.english, phone: listing.agent.phone,
                score: listing.agent.rating)
            zf_published = listing.publishedAt
            zf_min_months = 6 + listing.number % 7
            zf_pets = listing.number % 2
            zf_checked = listing.isVerified
            zf_has_video = listing.hasVideo
        }

        private static let firstNumber = 2_000_000

        /// The listing number of a `zf_id`; `nil` if `id` is invalid.
        static func number(of id: String) -> Int? {
            guard let value = Int(id), value > firstNumber else { return nil }
            return value - firstNumber
        }
    }
#endif
