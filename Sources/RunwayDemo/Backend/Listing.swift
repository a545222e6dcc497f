#if Command
    /// One property in the backend, before a team names its fields and formats its prices.
    struct Listing: Sendable, Equatable {
        /// The market that a listing belongs to.
        /// The raw value is the first component of the team's paths, and the prefix of its keys.
        enum Kind: String, CaseIterable, Sendable {
            case secondHand = "esf"
            case rental = "zf"
            case newHome = "xinfang"
        }

        /// A word or sentence in both languages of the catalogue; in a literal with a vertical line between.
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
            /// Stars, from 3.0 to 5.0 in tenths.
            let rating: Double
        }

        struct MetroStation: Sendable, Equatable {
            let line: Int
            let station: Text
            let walkMinutes: Int
        }

        let kind: Kind
        /// The listing's number within its kind, from 1.
        let number: Int
        let title: Text
        let description: Text
        let city: City
        let district: District
        let community: Text
        /// Street and house number.
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
        /// The price in yuan: of a second-hand home in total, of a rental for a month, of a new home for a square
        /// metre.
        let price: Int
        let agent: Agent
        let metro: MetroStation?
        let tags: [Text]
        let imageURLs: [String]
        /// Seconds since 1970-01-01T00:00:00Z.
        let publishedAt: Int
        let isVerified: Bool
        let hasVideo: Bool
    }
#endif
