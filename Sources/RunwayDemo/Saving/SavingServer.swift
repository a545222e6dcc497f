#if Command
    import HTTPTypes
    import Hummingbird
    import NIOCore
    import Runway
    import Synchronization

    /// The second-hand team's server of a ``SavingTour``: lists, pictures and offers.
    final class SavingServer: Sendable {
        private struct Offer: Decodable {
            var price: Int
        }

        static let picture = (0..<24_000).map { UInt8(truncatingIfNeeded: $0) }
        /// Guards the listings.
        private let catalogue: Mutex<ListingCatalogue>
        /// Guards the prices that were offered.
        private let offered = Mutex<[Int]>([])
        let listRequests = ReceivedCount()
        let pictureRequests = ReceivedCount()

        /// The offered prices, in the order of their arrival.
        var offers: [Int] { offered.withLock { $0 } }

        init(seed: UInt64) { catalogue = Mutex(ListingCatalogue(seed: seed, listingsPerKind: 300)) }

        /// Returns the listings of a district.
        func listings(in city: String, _ district: String) -> [Listing] {
            catalogue.withLock { $0.first(.max, of: .secondHand, city: city, district: district) }
        }

        /// Withdraws a listing, so that its list no longer contains it.
        func withdraw(_ listing: Listing) { catalogue.withLock { $0.apply(.withdraw(listing)) } }

        /// Adds the routes.
        func add(to router: Router<BasicRequestContext>) {
            router.get("esf/list") { [self] request, _ in
                listRequests.add(1)
                let catalogue = catalogue.withLock { $0 }
                return try Listing.Kind.secondHand.list(QueryParameters(of: request.uri), of: catalogue)
            }
            router.get("esf/picture/:id") { [self] _, _ in
                pictureRequests.add(1)
                let picture = ByteBuffer(bytes: Self.picture)
                return Response(
                    status: .ok, headers: [.contentType: "image/jpeg"], body: ResponseBody(byteBuffer: picture))
            }
            router.post("esf/offer/:id") { [self] request, context in
                let offer = try await request.decode(as: Offer.self, context: context)
                offered.withLock { $0.append(offer.price) }
                return try Response.json(["status": "ok"])
            }
        }
    }
#endif
