#if Command
    /// One property in the backend, before it is converted to a team's format.
    struct Listing: Sendable, Equatable {
        /// The market of a listing. The team's paths, and the names of its keys, begin with the raw value.
        enum Kind: String, CaseIterable, Sendable {
            case secondHand = "esf"
            case rental = "zf"
            case newHome = "xinfang"
        }

        /// A text in the two languages of the catalogue. In a literal, a vertical line separates them.
        struct Text: Sendable, Equatable, ExpressibleByStringLiteral {
            let chinese: String
            let english: String

            init(chinese: String, english: String) { (self.chinese, self.english) = (chinese, english) }

            init(stringLiteral value: String) {
                let parts = value.split(separator: "|")
                self.init(chinese: String(parts[0]), english: String(parts[1]))
            }
        }

        struct Agent: Sendable, Equatable {
            let name: Text
            let agency: Text
            let phone: String
            /// The rating in stars: 3.0 to 5.0, in steps of 0.1.
            let rating: Double
        }

        struct MetroStation: Sendable, Equatable {
            let line: Int
            let station: Text
            let walkMinutes: Int
        }

        let kind: Kind
        /// The number of the listing within its kind, from 1.
        let number: Int
        let title: Text
        let description: Text
        let city: City
        let district: District
        let community: Text
        let address: String
        let latitude: Double
        let longitude: Double
        let squareMetres: Double
        let rooms: Int
        let halls: Int
        let baths: Int
        let level: Int
        let totalLevels: Int
        let orientation: Text
        let yearBuilt: Int
        /// The price in yuan: the total price of a second-hand home, the monthly rent of a rental, or the price of a
        /// new home per square metre.
        let price: Int
        let agent: Agent
        let metro: MetroStation?
        let tags: [Text]
        let imageURLs: [String]
        /// The publication time, in seconds since 1970-01-01T00:00:00Z.
        let publishedAt: Int
        let isVerified: Bool
        let hasVideo: Bool
    }
#endif
