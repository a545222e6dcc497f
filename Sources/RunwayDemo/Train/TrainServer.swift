#if Command
    import Foundation
    import HTTPTypes
    import Hummingbird
    import Runway
    import RunwayServer
    import RunwayServerStorage
    import RunwayTesting
    import Synchronization

    /// The second-hand team's server in a ``TrainTour``, with one home and the offers for it.
    final class TrainServer: Sendable {
        private struct Offer: Decodable {
            var price: Int
        }

        private let catalogue: ListingCatalogue
        private let keys: SQLiteIdempotencyStore
        private let received = ReceivedCount()
        /// Guards the offered prices.
        private let offered = Mutex<[Int]>([])

        /// The gate that delays the response to the first offer.
        let gate = ScriptedGate()
        let detailRequests = ReceivedCount()

        /// The offered prices, in the order in which they took effect.
        var offers: [Int] { offered.withLock { $0 } }
        var offerRequestCount: Int { received.value }

        init(_ catalogue: ListingCatalogue, in folder: URL) throws {
            self.catalogue = catalogue
            keys = try SQLiteIdempotencyStore(at: folder.appending(path: "server/keys.sqlite"))
        }

        func add(to router: Router<BasicRequestContext>) {
            router.get("esf/detail/:id") { [self] _, context in
                detailRequests.add(1)
                return try Listing.Kind.secondHand.detail(id: context.parameters.require("id"), of: catalogue)
            }
            router.group()
                .add(middleware: FirstResponseGate(received: received, gate: gate))
                .add(middleware: IdempotencyMiddleware(store: keys) { _, _ in "the user" })
                .post("esf/offer/:id") { [self] request, context in
                    let offer = try await request.decode(as: Offer.self, context: context)
                    offered.withLock { $0.append(offer.price) }
                    return try Response.json(["status": "ok"])
                }
        }

        func close() async throws { try await keys.close() }
    }

    /// Delays the response to the first request. The response is already stored when the delay begins.
    private struct FirstResponseGate<Context: RequestContext>: RouterMiddleware {
        let received: ReceivedCount
        let gate: ScriptedGate

        func handle(
            _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
        ) async throws -> Response {
            let count = received.add(1)
            let response = try await next(request, context)
            if count == 1 { try await gate.pass() }
            return response
        }
    }
#endif
