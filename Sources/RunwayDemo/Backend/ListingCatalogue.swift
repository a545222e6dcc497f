#if Command
    import RunwayTesting

    /// All listings of the backend, generated from a seed. Equal seeds and sizes produce equal listings.
    struct ListingCatalogue: Sendable {
        static let maximumListingsPerKind = 50_000

        private var listings: [Listing.Kind: [Listing]] = [:]

        /// Generates `listingsPerKind` listings of each kind, between 1 and ``maximumListingsPerKind``.
        ///
        /// Each kind has its own generator, so a listing depends only on the seed, its kind and its number.
        init(seed: UInt64, listingsPerKind: Int) {
            let count = min(max(listingsPerKind, 1), Self.maximumListingsPerKind)
            for (index, kind) in Listing.Kind.allCases.enumerated() {
                var generator = SeededGenerator(seed: seed &* 4 &+ UInt64(index + 1))
                listings[kind] = (1...count).map { Listing(kind: kind, number: $0, using: &generator) }
            }
        }

        /// The listings of a kind, newest first.
        subscript(kind: Listing.Kind) -> [Listing] { listings[kind, default: []] }

        func listing(_ kind: Listing.Kind, number: Int) -> Listing? { self[kind].first { $0.number == number } }

        /// A change that a team makes to its list.
        enum Edit: Sendable {
            /// Adds a listing at the start of its list, as the newest, or moves it there.
            case publish(Listing)
            case withdraw(Listing)
            /// Replaces the listing that has the same number.
            case correct(Listing)
        }

        mutating func apply(_ edit: Edit) {
            switch edit {
            case .publish(let listing):
                listings[listing.kind] = [listing] + self[listing.kind].filter { $0.number != listing.number }
            case .withdraw(let listing): listings[listing.kind]?.removeAll { $0.number == listing.number }
            case .correct(let listing):
                listings[listing.kind] = self[listing.kind].map { $0.number == listing.number ? listing : $0 }
            }
        }
    }

    /// The criteria of a request for listings. `nil` matches every listing.
    struct ListingFilter: Sendable {
        var city: City?
        var district: District?
        /// The maximum price, in the unit of ``Listing/price``.
        var maximumPrice: Int?

        func accepts(_ listing: Listing) -> Bool {
            if let city, listing.city.code != city.code { return false }
            if let district, listing.district.code != district.code { return false }
            if let maximumPrice, listing.price > maximumPrice { return false }
            return true
        }
    }
#endif
