#if Command
    import Foundation
    import Hummingbird
    package import Runway
    package import RunwayBundles
    import RunwayJSON
    package import RunwayViews

    /// The values that the card of a home shows, by the names in the documents of `Samples/Card`.
    package struct HomeCard: Codable, Sendable, Equatable {
        package var id: String
        package var title: String
        package var price: String
        package var unitPrice: String
        package var place: String
        package var address: String
    }

    /// Converts a second-hand home to the values of its card.
    package struct HomeCardReformer: Reformer, Sendable {
        package init() {}

        package func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> HomeCard {
            let home = rawData["data"]
            return try HomeCard(
                id: home["esf_id"].require(), title: home["esf_title"].require(),
                price: "\(home["esf_total_price"].require(Double.self)) 万",
                unitPrice: "\(home["esf_unit_price"].require(Int.self)) 元/㎡",
                place: "\(home["esf_area"].require(Double.self)) ㎡ · \(home["esf_district"].string ?? "")",
                address: home["esf_address"].require())
        }
    }

    /// The files of the card's bundle, which are those of `Samples/Card`.
    package enum HomeCardFiles {
        /// The files that the app contains.
        package static var embedded: [String: String] {
            [
                "card.json": text(PackageResources.embedded_card_json),
                "skin.json": text(PackageResources.embedded_skin_json),
            ]
        }

        /// The files of the next version: the card has a marquee, and scripts handle its tap, draw it and repair the
        /// reformer of a home.
        package static var published: [String: String] {
            [
                "card.json": text(PackageResources.card_json), "skin.json": text(PackageResources.skin_json),
                "scripts/card.js": text(PackageResources.card_js),
                "scripts/repair.js": text(PackageResources.repair_js),
                "scripts/view.js": text(PackageResources.view_js),
            ]
        }

        private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    }

    extension BundleSite {
        /// Serves a repository of the card's bundle, and a home for the card, while `body` runs.
        ///
        /// - Parameters:
        ///   - seed: The seed of the home.
        ///   - body: Receives the site, and the URL of the home.
        /// - Throws: The error of the server, of the disk and of `body`.
        package static func serveCard<Value>(
            seed: UInt64, while body: (BundleSite) async throws -> Value
        ) async throws -> Value {
            let catalogue = ListingCatalogue(seed: seed, listingsPerKind: 1)
            return try await serve("homes", embedded: HomeCardFiles.embedded) { router in
                router.get("esf/detail/:id") { _, context in
                    try Listing.Kind.secondHand.detail(id: context.parameters.require("id"), of: catalogue)
                }
            } while: { site in
                site.network.configure(SecondHandService.self) { $0.baseURLs = [.release: site.url] }
                return try await body(site)
            }
        }

        /// Loads the home, and converts it.
        package func home<Converter: Reformer>(as reformer: Converter) async throws -> Converter.Value {
            let endpoint = SecondHandDetail(id: "E\(Listing.Kind.secondHand.firstNumber + 1)")
            return try reformer.reform(try await network.call(endpoint), from: endpoint)
        }
    }

    extension ViewDocument {
        /// Reads the card of a bundle, with its skin.
        ///
        /// - Throws: The error of a file, and ``ViewError``.
        package init(cardOf bundle: RunningBundle) throws {
            func bytes(_ path: String) throws -> [UInt8] { Array(try bundle.read(path) ?? Data()) }
            try self.init(bytes("card.json"), skin: ViewSkin(JSONDocument(bytes("skin.json")).root))
        }
    }
#endif
