import Testing

@testable import RunwayDemo

@Suite struct ListingCatalogueTests {
    @Test(arguments: Listing.Kind.allCases)
    func equalSeedsProduceEqualListings(kind: Listing.Kind) {
        let one = ListingCatalogue(seed: 42, listingsPerKind: 500)
        let other = ListingCatalogue(seed: 42, listingsPerKind: 500)
        #expect(one[kind].count == 500)
        #expect(one[kind] == other[kind])
    }

    @Test(arguments: Listing.Kind.allCases)
    func anotherSeedProducesOtherListings(kind: Listing.Kind) {
        let one = ListingCatalogue(seed: 42, listingsPerKind: 50)
        let other = ListingCatalogue(seed: 43, listingsPerKind: 50)
        let equal = zip(one[kind], other[kind]).count { $0 == $1 }
        #expect(equal == 0)
    }

    @Test func aLargerCatalogueBeginsWithTheSmallerOne() {
        let small = ListingCatalogue(seed: 7, listingsPerKind: 20)
        let large = ListingCatalogue(seed: 7, listingsPerKind: 90)
        for kind in Listing.Kind.allCases {
            #expect(Array(large[kind].prefix(20)) == small[kind])
        }
    }

    @Test func listingsAreNewestFirst() {
        let catalogue = ListingCatalogue(seed: 1, listingsPerKind: 2000)
        for kind in Listing.Kind.allCases {
            let times = catalogue[kind].map(\.publishedAt)
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 > $1 })
        }
    }

    @Test func theSizeIsBounded() {
        #expect(ListingCatalogue(seed: 1, listingsPerKind: -5)[.rental].count == 1)
    }

    @Test func titlesHoldWhatAJSONWriterMustEscape() {
        let catalogue = ListingCatalogue(seed: 1, listingsPerKind: 300)
        let titles = catalogue[.secondHand].map(\.title.chinese)
        #expect(titles.contains { $0.contains("\"") })
        #expect(titles.contains { $0.contains("\\") })
        #expect(titles.contains { $0.unicodeScalars.contains { $0.value > 0xFFFF } })
        #expect(catalogue[.secondHand].contains { $0.description.english.contains("\n") })
    }

    @Test func aListingIsFoundByItsNumberOnly() {
        let catalogue = ListingCatalogue(seed: 1, listingsPerKind: 10)
        #expect(catalogue.listing(.rental, number: 10)?.number == 10)
        #expect(catalogue.listing(.rental, number: 0) == nil)
        #expect(catalogue.listing(.rental, number: 11) == nil)
    }
}
