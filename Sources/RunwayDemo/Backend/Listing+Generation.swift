#if Command
    import RunwayTesting

    extension Listing {
        /// Generates the next listing. A higher number means an older listing.
        ///
        /// - Parameter place: The place of the listing. By default it is random.
        init(
            kind: Kind, number: Int, in place: (city: City, district: District)? = nil,
            using generator: inout SeededGenerator
        ) {
            typealias Words = ListingVocabulary
            let city = place?.city ?? generator.element(of: City.all)
            let district = place?.district ?? generator.element(of: city.districts)
            let rooms = generator.integer(in: 1...5)
            let squareMetres = (Double(rooms) * generator.number(in: 24...38) * 10).rounded() / 10
            let totalLevels = generator.integer(in: 6...33)
            let metro = generator.chance(percent: 70) ? MetroStation(using: &generator) : nil
            let community = Self.community(using: &generator)
            let praise = generator.element(of: Words.praises)

            self.kind = kind
            self.number = number
            self.city = city
            self.district = district
            self.community = community
            self.title =
                kind == .newHome
                ? Text(
                    chinese: "\(community.chinese) · \(praise.chinese)",
                    english: "\(community.english): \(praise.english)")
                : Text(
                    chinese: "\(community.chinese) \(rooms)室 \(praise.chinese)",
                    english: "\(rooms)-room flat at \(community.english). \(praise.english)")
            self.description = generator.element(of: Words.descriptions)
            self.address = "\(generator.element(of: Words.streets))\(generator.integer(in: 1...998))号"
            self.latitude = Self.degrees(around: city.latitude, using: &generator)
            self.longitude = Self.degrees(around: city.longitude, using: &generator)
            self.squareMetres = squareMetres
            self.rooms = rooms
            self.halls = generator.integer(in: 1...2)
            self.baths = generator.integer(in: 1...max(1, rooms - 1))
            self.level = generator.integer(in: 1...totalLevels)
            self.totalLevels = totalLevels
            self.orientation = generator.element(of: Words.orientations)
            self.yearBuilt = kind == .newHome ? generator.integer(in: 2026...2028) : generator.integer(in: 1992...2024)
            self.price = Self.price(kind, in: district, squareMetres: squareMetres, using: &generator)
            self.agent = Agent(using: &generator)
            self.metro = metro
            self.tags = generator.sample(generator.integer(in: 2...4), of: Words.tags)
            self.imageURLs = (1...generator.integer(in: 3...5)).map { image in
                "https://images.listings.example/\(city.code)/\(district.code)/\(kind)/\(number)-\(image).jpg"
            }
            // Listing 0 has the date 2026-01-01T00:00:00Z. Each further listing is 7 to 33 minutes older.
            self.publishedAt = 1_767_225_600 - number * 1200 + generator.integer(in: 0...780)
            self.isVerified = generator.chance(percent: 80)
            self.hasVideo = generator.chance(percent: 40)
        }

        private static func community(using generator: inout SeededGenerator) -> Text {
            let beginning = generator.element(of: ListingVocabulary.communityBeginnings)
            let ending = generator.element(of: ListingVocabulary.communityEndings)
            return Text(
                chinese: beginning.chinese + ending.chinese,
                english: "\(beginning.english) \(ending.english)")
        }

        /// Returns a coordinate within about 15 km of `centre`. Six decimals resolve a tenth of a metre.
        private static func degrees(around centre: Double, using generator: inout SeededGenerator) -> Double {
            ((centre + generator.number(in: -0.14...0.14)) * 1_000_000).rounded() / 1_000_000
        }

        private static func price(
            _ kind: Kind, in district: District, squareMetres: Double, using generator: inout SeededGenerator
        ) -> Int {
            let yuanPerSquareMetre = Double(district.yuanPerSquareMetre) * generator.number(in: 0.75...1.3)
            return switch kind {
            // Asking prices are multiples of a thousand yuan.
            case .secondHand: Int((yuanPerSquareMetre * squareMetres / 1000).rounded()) * 1000
            // A month's rent is about 1/650 of the price, rounded to ten yuan.
            case .rental: Int((yuanPerSquareMetre * squareMetres / 6500).rounded()) * 10
            case .newHome: Int((yuanPerSquareMetre / 100).rounded()) * 100
            }
        }
    }

    extension Listing.Agent {
        init(using generator: inout SeededGenerator) {
            let surname = generator.element(of: ListingVocabulary.surnames)
            let givenName = generator.element(of: ListingVocabulary.givenNames)
            let digits = String(generator.integer(in: 0...9999))
            self.name = Listing.Text(
                chinese: surname.chinese + givenName.chinese, english: "\(givenName.english) \(surname.english)")
            self.agency = generator.element(of: ListingVocabulary.agencies)
            self.phone = "400-555-" + String(repeating: "0", count: 4 - digits.count) + digits
            self.rating = Double(generator.integer(in: 30...50)) / 10
        }
    }

    extension Listing.MetroStation {
        init(using generator: inout SeededGenerator) {
            self.line = generator.integer(in: 1...16)
            self.station = generator.element(of: ListingVocabulary.stations)
            self.walkMinutes = generator.integer(in: 2...20)
        }
    }
#endif
