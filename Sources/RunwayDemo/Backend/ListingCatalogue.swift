#if Command
    import RunwayTesting

    /// All listings of the backend, generated from a seed: equal seeds and sizes produce equal listings until they are
    /// edited.
    struct ListingCatalogue: Sendable {
        /// The most listings of a kind.
        static let maximumListingsPerKind = 50_000

        private(set) var secondHand: [Listing]
        private(set) var rentals: [Listing]
        private(set) var newHomes: [Listing]

        /// Makes `listingsPerKind` listings of each kind, between 1 and ``maximumListingsPerKind``.
        ///
        /// The kinds draw from generators of their own, so that a listing depends on the seed, its kind and its number
        /// only.
        init(seed: UInt64, listingsPerKind: Int) {
            let count = min(max(listingsPerKind, 1), Self.maximumListingsPerKind)
            self.secondHand = Self.listings(.secondHand, count: count, seed: seed)
            self.rentals = Self.listings(.rental, count: count, seed: seed)
            self.newHomes = Self.listings(.newHome, count: count, seed: seed)
        }

        private static func listings(_ kind: Listing.Kind, count: Int, seed: UInt64) -> [Listing] {
            let stream: UInt64 =
                switch kind {
                case .secondHand: 1
                case .rental: 2
                case .newHome: 3
                }
            var generator = SeededGenerator(seed: seed &* 4 &+ stream)
            return (1...count).map { Listing(kind: kind, number: $0, using: &generator) }
        }

        func listings(of kind: Listing.Kind) -> [Listing] {
            switch kind {
            case .secondHand: secondHand
            case .rental: rentals
            case .newHome: newHomes
            }
        }

        /// Returns the listing with a number; `nil` if there is none.
        func listing(_ kind: Listing.Kind, number: Int) -> Listing? {
            listings(of: kind).first { $0.number == number }
        }
    }

    extension ListingCatalogue {
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
                change(listing.kind) { $0 = [listing] + $0.filter { $0.number != listing.number } }
            case .withdraw(let listing): change(listing.kind) { $0.removeAll { $0.number == listing.number } }
            case .correct(let listing):
                change(listing.kind) { $0 = $0.map { $0.number == listing.number ? listing : $0 } }
            }
        }

        private mutating func change(_ kind: Listing.Kind, _ body: (inout [Listing]) -> Void) {
            switch kind {
            case .secondHand: body(&secondHand)
            case .rental: body(&rentals)
            case .newHome: body(&newHomes)
            }
        }
    }
#endif
