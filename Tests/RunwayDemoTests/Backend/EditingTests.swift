import Foundation
import RunwayTesting
import Testing

@testable import RunwayDemo

@Suite(.timeLimit(.minutes(10))) struct EditingTests {
    @Test func publishedListingStandsFirstAndAppearsOnce() throws {
        var catalogue = ListingCatalogue(seed: 2, listingsPerKind: 5)
        let fourth = try #require(catalogue.listing(.rental, number: 4))
        catalogue.apply(.publish(fourth))
        #expect(catalogue[.rental].map(\.number) == [4, 1, 2, 3, 5])
        #expect(catalogue[.secondHand].map(\.number) == [1, 2, 3, 4, 5])
    }

    @Test func withdrawnListingsAreRemoved() throws {
        var catalogue = ListingCatalogue(seed: 2, listingsPerKind: 5)
        catalogue.apply(.withdraw(try #require(catalogue.listing(.newHome, number: 2))))
        #expect(catalogue[.newHome].map(\.number) == [1, 3, 4, 5])
        #expect(catalogue.listing(.newHome, number: 2) == nil)
        #expect(catalogue.listing(.newHome, number: 3)?.number == 3)
    }

    @Test func aNewListingIsWhereItShouldBe() throws {
        var generator = SeededGenerator(seed: 1)
        let city = try #require(City.named("chengdu"))
        let district = try #require(city.district(named: "gaoxin"))
        let listing = Listing(kind: .secondHand, number: 9, in: (city, district), using: &generator)
        #expect(listing.city == city)
        #expect(listing.district == district)
    }

    @Test func anEditIsServedAtOnce() async throws {
        let backend = try ListingsBackend(seed: 2, listingsPerKind: 50)
        try await withClient(of: backend) { client, _ in
            let listing = try #require(backend.catalogue.listing(.secondHand, number: 3))
            #expect(try await client.get("/esf/detail/E100003").status == 200)
            backend.apply(.withdraw(listing))
            #expect(try await client.get("/esf/detail/E100003").status == 404)
        }
    }

    @Test func duringAnOutageEveryResponseIs503() async throws {
        let backend = try ListingsBackend()
        try await withClient(of: backend) { client, _ in
            backend.isDown = true
            for path in ["/esf/list", "/zf/detail/2000001", "/nowhere"] {
                let status = try await client.get(path).status
                #expect(status == 503)
            }
            backend.isDown = false
            let status = try await client.get("/esf/list").status
            #expect(status == 200)
        }
    }

    @Test func envelopeIsOneRequestWithSeveralInIt() async throws {
        try await withClient(of: ListingsBackend()) { client, serving in
            let items = (1...3).map {
                #"{"id":"\#($0)","method":"GET","path":"/xinfang/detail/xf-\#($0)","headers":[]}"#
            }
            let envelope = try await client.post("/_batch", #"{"requests":[\#(items.joined(separator: ","))]}"#)
            let responses = try #require(try envelope.object()["responses"] as? [[String: Any]])
            #expect(responses.compactMap { $0["status"] as? Int } == [200, 200, 200])
            #expect(serving.statistics.mergedRequests == 3)
            #expect(
                serving.statistics.routes == [
                    "/_batch": .init(requests: 1, responses: 1, abandoned: 0, bodyBytes: envelope.body.count)
                ])
        }
    }
}
