import RunwayTesting
import RunwayTransport
import Testing

@testable import RunwayDemo

/// Backends that do not do what they should, and sessions that find out.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(10)))
struct SabotageTests {
    private static let seed: UInt64 = 11

    /// What a session finds after `sabotage` was done to its backend.
    private func problems(
        patience: Duration = .seconds(180), _ sabotage: (inout DemoSession.Setting) throws -> Void
    ) async throws -> [String] {
        var setting = try DemoSession.Setting(seed: Self.seed)
        setting.patience = patience
        try sabotage(&setting)
        return try await DemoSession.play(setting).problems
    }

    @Test func changedRowIsAProblemInEveryList() async throws {
        let lists = [(Listing.Kind.secondHand, "shanghai"), (.rental, "beijing"), (.newHome, "hangzhou")]
        let problems = try await problems { setting in
            var generator = SeededGenerator(seed: 99)
            for (kind, city) in lists {
                let listing = try #require(setting.backend.catalogue.first(2, of: kind, city: city).last)
                let place = (listing.city, listing.district)
                let lie = Listing(kind: kind, number: listing.number, in: place, using: &generator)
                setting.backend.apply(.correct(lie))
            }
        }
        for team in ["second-hand", "rental", "new-homes"] {
            let scene = problems.filter { $0.hasPrefix("The \(team) team's list") }
            #expect(scene.contains { $0.contains(": line 2 of the screen is") })
        }
    }

    @Test func rowThatIsLeftOutIsAProblem() async throws {
        let problems = try await problems { setting in
            let backend = setting.backend
            let listings = backend.catalogue.first(20, of: .secondHand, city: "chengdu", district: "gaoxin")
            backend.apply(.withdraw(try #require(listings.last)))
        }
        #expect(problems.contains { $0.contains("is missing") })
    }

    @Test func rowsInAnotherOrderAreAProblem() async throws {
        let problems = try await problems { setting in
            let backend = setting.backend
            let listings = backend.catalogue.first(3, of: .secondHand, city: "shenzhen")
            backend.apply(.publish(try #require(listings.last)))
        }
        #expect(problems.contains { $0.contains("line 1 of the screen is") })
    }

    @Test func aMissingResponseIsAProblem() async throws {
        // What the backend puts off stays so, whatever the session does.
        let problems = try await problems(patience: .seconds(5)) { $0.gate = ResponseGate() }
        #expect(problems.contains { $0.contains("waited for every call to land") })
    }

    @Test func aBackendThatIsDownIsAProblem() async throws {
        let problems = try await problems(patience: .seconds(20)) { $0.backend.isDown = true }
        #expect(problems.contains { $0.contains("SecondHandList was failed: overloaded, and should be succeeded") })
    }

    @Test func anUnreceivedResponseOrByteIsAProblem() async throws {
        let problems = try await problems { setting in
            let backend = setting.backend
            backend.counter.requestCompleted(at: "/elsewhere", bodyBytes: 1)
        }
        #expect(problems.count == 2)
        #expect(problems.contains { $0.contains("responses were received") })
        #expect(problems.contains { $0.contains("bytes were received") })
    }

    @Test func aResponseOverHTTP1IsAProblem() async throws {
        // Fewer calls than the demo's are in flight at once over HTTP/1.1, so that one scene times out.
        let problems = try await problems(patience: .seconds(20)) { $0.usesHTTP2 = false }
        #expect(problems.contains { $0.contains("used HTTP/1.1, not HTTP/2") })
    }
}
