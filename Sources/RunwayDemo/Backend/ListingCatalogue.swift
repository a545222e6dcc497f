/// All listings of the backend, made from a seed: equal seeds and sizes give equal listings.
struct ListingCatalogue: Sendable {
    /// At most this many listings of a kind are made.
    static let maximumListingsPerKind = 50_000

    let secondHand: [Listing]
    let rentals: [Listing]
    let newHomes: [Listing]

    /// Makes `listingsPerKind` listings of each kind, between 1 and ``maximumListingsPerKind``.
    ///
    /// The kinds draw from generators of their own, so that a listing depends on the seed, its kind and its number only.
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

    /// The listing with that number; nil when there is none.
    func listing(_ kind: Listing.Kind, number: Int) -> Listing? {
        let listings = listings(of: kind)
        return listings.indices.contains(number - 1) ? listings[number - 1] : nil
    }
}
