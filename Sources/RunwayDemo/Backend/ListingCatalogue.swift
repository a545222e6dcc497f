#if Command
    import RunwayTesting

    /// All listings of the backend, generated from a seed: equal seeds and sizes produce equal listings until they are
    /// edited.
    struct ListingCatalogue: Sendable {
        /// The most listings of a kind.
        static let maximumListingsPerKind = 50_000

        private var listings: [Listing.Kind: [Listing]] = [:]

        /// Makes `listingsPerKind` listings of each kind, between 1 and ``maximumListingsPerKind``.
        ///
        /// The kinds draw from generators of their own, so that a listing depends on the seed, its kind and its number
        /// only.
        init(seed: UInt64, listingsPerKind: Int) {
            let count = min(max(listingsPerKind, 1), Self.maximumListingsPerKind)
            for (index, kind) in Listing.Kind.allCases.enumerated() {
                var generator = SeededGenerator(seed: seed &* 4 &+ UInt64(index + 1))
                listings[kind] = (1...count).map { Listing(kind: kind, number: $0, using: &generator) }
            }
        }

        /// The listings of a kind, the newest first.
        subscript(kind: Listing.Kind) -> [Listing] { listings[kind, default: []] }

        /// Returns the listing with a number; `nil` if there is none.
        func listing(_ kind: Listing.Kind, number: Int) -> Listing? { self[kind].first { $0.number == number } }

        /// One thing that a team does to its list.
        enum Edit: Sendable {
            /// Moves a listing to the start of its list, as the newest.
            case publish(Listing)
            /// Takes a listing out of its list.
            case withdraw(Listing)
            /// Replaces the listing that has the same number.
            case correct(Listing)
        }

        /// Does something to a list.
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

    /// The listings that a request selects. `nil` means any.
    struct ListingFilter: Sendable {
        var city: City?
        var district: District?
        /// The largest price, in the unit of ``Listing/price``.
        var maximumPrice: Int?

        func accepts(_ listing: Listing) -> Bool {
            if let city, listing.city.code != city.code { return false }
            if let district, listing.district.code != district.code { return false }
            if let maximumPrice, listing.price > maximumPrice { return false }
            return true
        }
    }
#endif
