import Foundation
import Testing

/// The public types of `Runway`: few, and none whose growth breaks an app's switch.
struct PublicTypeTests {
    /// A public type of `Runway`, with the keyword that declares it.
    private struct Declaration {
        let keyword: String
        let name: String
    }

    private static func declarations() throws -> [Declaration] {
        try Project.files(in: "Sources/Runway", endingIn: [".swift"]).flatMap { file in
            file.text.matches(of: /public (?:final |indirect )?(struct|class|enum|protocol|actor) (\w+)/).map {
                Declaration(keyword: String($0.1), name: String($0.2))
            }
        }
        .filter { !["AsyncIterator", "StringInterpolation"].contains($0.name) }
    }

    /// The types that came with later features, by feature. See `docs/decisions/0027-names-of-types.md`.
    private static let typesOfLaterFeatures: [String: Set<String>] = [
        "pins": ["Outcome", "PinReport", "PublicKeyPin", "PublicKeyPins"],
        "background transfers": ["BackgroundGrace", "BackgroundTransfer", "BackgroundTransfers", "Networks"],
        "managers of transfers": ["DownloadManager", "UploadManager", "UploadResumption"],
        "offline changes": ["ChangeQueue", "OfflinePolicy", "QueuedChange", "State", "UnsentChange"],
        "cache budgets and reports": ["AgeRange", "CacheInvalidation", "CacheKind", "CacheReport", "EndpointUse"],
        "disk tier": ["CacheTierChange", "CacheTierKey"],
        "interceptors of a layer": ["InterceptedCall"],
        "authorization": ["AuthorizationPolicy", "BasicCredentials"],
        "calls of a path alone": ["GetEndpoint"],
        "declared types": ["EndpointDeclarations", "ServiceDeclarations"],
    ]

    @Test func otherPublicTypesAreFew() throws {
        let later = Self.typesOfLaterFeatures.values.reduce(into: Set<String>()) { $0.formUnion($1) }
        let names = try Self.declarations().map(\.name).filter { !later.contains($0) }.sorted()
        #expect(names.count <= 110, "\(names.count): \(names.joined(separator: ", "))")
        #expect(names.contains("NetworkLayer"))
    }

    @Test func typesOfLaterFeaturesAreDeclaredOnce() throws {
        let names = try Self.declarations().map(\.name)
        for (feature, types) in Self.typesOfLaterFeatures {
            for type in types {
                let count = names.filter { $0 == type }.count
                #expect(count == 1, "\(feature): \(type) is declared \(count) times")
            }
        }
    }

    /// See `docs/decisions/0027-names-of-types.md`.
    @Test func publicEnumsAreClosedOrUnreadByApps() throws {
        let closed: Set = [
            "CallPriority", "Link", "Outcome", "ParameterValue", "RequestBody", "ResponseBody", "ResponseDelivery",
            "SendState", "Submission",
        ]
        // A new scope or change must be handled by every tier, so the compiler should name the places.
        let handled: Set = ["CacheScope", "CacheTierChange"]
        let onlyPassedToRunway: Set = [
            "Arrays", "AuthorizationPolicy", "CacheUse", "CookiePolicy", "DateStyle", "HedgingPolicy",
            "ImmediateResponse",
            "OverlapPolicy",
            "PageStyle", "ParameterEncoding",
        ]
        let enums = Set(try Self.declarations().filter { $0.keyword == "enum" }.map(\.name))
        #expect(enums == closed.union(handled).union(onlyPassedToRunway))
    }
}
