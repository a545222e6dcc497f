import Foundation
import Testing

/// What an app sees of `Runway`: few types, and none that grows by breaking an app's switch.
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

    @Test func publicTypesAreFew() throws {
        let names = try Self.declarations().map(\.name).sorted()
        #expect(names.count <= 134, "\(names.count): \(names.joined(separator: ", "))")
        #expect(names.contains("NetworkLayer"))
    }

    /// See `docs/decisions/0027-names-of-types.md`.
    @Test func publicEnumsAreClosedOrNeverReadByApps() throws {
        let closed: Set = [
            "CallPriority", "Link", "Outcome", "ParameterValue", "RequestBody", "ResponseBody", "ResponseDelivery",
            "SendState",
        ]
        // A new scope or change must be handled by every tier, so the compiler should name the places.
        let handled: Set = ["CacheScope", "CacheTierChange"]
        let onlyPassedToRunway: Set = [
            "Arrays", "AuthorizationPolicy", "CacheUse", "CookiePolicy", "DateStyle", "HedgingPolicy",
            "ImmediateResponse", "Mode",
            "OverlapPolicy",
            "PageStyle", "ParameterEncoding",
        ]
        let enums = Set(try Self.declarations().filter { $0.keyword == "enum" }.map(\.name))
        #expect(enums == closed.union(handled).union(onlyPassedToRunway))
    }
}
