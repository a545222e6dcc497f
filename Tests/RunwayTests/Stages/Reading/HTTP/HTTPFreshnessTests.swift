import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// RFC 9111 §4.2, §5.1, §5.3.
struct HTTPFreshnessTests {
    private let cached = HTTPCachedLayer()
    private let received = HTTPDate(seconds: 1_767_225_600)

    private func lifetime(_ fields: HTTPFields, status: HTTPResponse.Status = .ok) -> Duration {
        HTTPFreshness.lifetime(
            of: HTTPResponse(status: status, headerFields: fields), ResponseDirectives(fields), received: received
        ).duration
    }

    private func date(_ offset: Int64) -> String { HTTPDate(seconds: received.seconds + offset).text }

    @Test func responseIsStaleAtItsLifetimesEnd() async throws {
        cached.respond([.cacheControl: "max-age=60"])
        try await cached.send()
        cached.advance(59.5)
        #expect(try await cached.send().source == .cache)
        cached.advance(0.5)
        cached.respond("two")
        #expect(try await cached.send().text == "two")
    }

    @Test func lifetimeIsMaxAgeThenExpiresThenHeuristic() {
        let modified = date(-1000)
        #expect(lifetime([.cacheControl: "max-age=5", .expires: date(50), .lastModified: modified]) == .seconds(5))
        #expect(lifetime([.expires: date(50), .date: date(-10), .lastModified: modified]) == .seconds(60))
        #expect(lifetime([.expires: date(50)]) == .seconds(50))
        #expect(lifetime([.lastModified: modified, .date: date(0)]) == .seconds(100))
        #expect(lifetime([:]) == .zero)
    }

    @Test func lifetimeForSharedCachesDoesNotConcernUs() {
        #expect(lifetime([.cacheControl: "s-maxage=500, max-age=5"]) == .seconds(5))
        #expect(lifetime([.cacheControl: "s-maxage=500", .expires: date(7)]) == .seconds(7))
        #expect(lifetime([.cacheControl: "s-maxage=0, max-age=5, proxy-revalidate"]) == .seconds(5))
    }

    @Test func fieldsForNamedCachesDoNotConcernUs() throws {
        var fields: HTTPFields = [.cacheControl: "max-age=5"]
        for name in ["CDN-Cache-Control", "Surrogate-Control"] {
            fields[try #require(HTTPField.Name(name))] = "max-age=500, no-store"
        }
        #expect(lifetime(fields) == .seconds(5) && !ResponseDirectives(fields).isNoStore)
    }

    @Test(arguments: ["0", "-1", "", "now", "Thu, 01 Jan 2099 00:00:00 UTC", "2099-01-01", "\u{e9}", "4102444800"])
    func expiryThatCannotBeReadHasPassed(_ value: String) {
        #expect(lifetime([.expires: value, .lastModified: date(-1_000_000)]) == .zero)
    }

    @Test func expiriesThatDifferHavePassed() {
        var fields = HTTPFields()
        fields[values: .expires] = [date(50), date(60)]
        #expect(lifetime(fields) == .zero)
        fields[values: .expires] = [date(50), date(50)]
        #expect(lifetime(fields) == .seconds(50))
    }

    @Test func expiryBeforeItsDateIsNoNegativeLifetime() {
        #expect(lifetime([.expires: date(-50), .date: date(0)]) == .zero)
        #expect(lifetime([.expires: date(0), .date: date(0)]) == .zero)
    }

    @Test func datesPastTheEdgesOfCountersAreHandled() {
        #expect(lifetime([.expires: "Fri, 31 Dec 9999 23:59:59 GMT", .date: date(0)]) > .seconds(1 << 31))
        #expect(
            lifetime([.expires: "Tue, 19 Jan 2038 03:14:08 GMT", .date: "Tue, 19 Jan 2038 03:14:06 GMT"]) == .seconds(2)
        )
        #expect(
            lifetime([.expires: "Thu, 01 Jan 2037 00:00:00 GMT", .date: "Wed, 31 Dec 2036 23:59:60 GMT"]) == .seconds(1)
        )
        #expect(lifetime([.expires: "Thursday, 01-Jan-70 00:00:00 GMT", .date: date(0)]) > .zero)
        #expect(lifetime([.expires: "Thursday, 02-Jan-76 00:00:00 GMT", .date: date(0)]) == .zero)
        #expect(lifetime([.cacheControl: "max-age=99999999999"]) == .seconds(1 << 31))
    }

    @Test func estimateIsATenthWithinADay() {
        #expect(lifetime([.lastModified: date(-100_000), .date: date(0)]) == .seconds(10_000))
        #expect(lifetime([.lastModified: date(-100_000_000), .date: date(0)]) == .seconds(86_400))
        #expect(lifetime([.lastModified: date(50), .date: date(0)]) == .zero)
        #expect(lifetime([.lastModified: "long ago", .date: date(0)]) == .zero)
    }

    @Test func namedLifetimePreventsAnEstimate() {
        for fields in [[.cacheControl: "max-age=0"], [.cacheControl: "max-age=x"], [.expires: "0"]] as [HTTPFields] {
            var fields = fields
            fields[.lastModified] = date(-1_000_000)
            #expect(lifetime(fields) == .zero)
        }
    }

    @Test func ageIsTheFirstMemberOrIgnored() {
        func age(_ values: String...) -> Duration {
            var fields = HTTPFields()
            fields[values: .age] = values
            return HTTPFreshness.age(fields)
        }
        #expect(age("30") == .seconds(30) && age("30, 5") == .seconds(30) && age("30", "5") == .seconds(30))
        #expect(age("99999999999999999999") == .seconds(1 << 31))
        for text in ["", "-30", "30s", "3.5", "abc", ", 30", "+30", "３０"] { #expect(age(text) == .zero, "\(text)") }
    }

    @Test func ageCountsFromTheSendingOfTheRequest() async throws {
        cached.respond([.cacheControl: "max-age=60", .age: "10"], after: 20)
        try await cached.send()
        cached.advance(29)
        #expect(try await cached.send().head.headerFields[.age] == "59")
        cached.advance(1)
        cached.respond("two")
        #expect(try await cached.send().text == "two")
    }

    @Test func largerOfDateAndAgeIsTheAge() {
        func initial(_ fields: HTTPFields, delay: Int64 = 0) -> Duration {
            HTTPFreshness.initialAge(fields, delay: .seconds(delay), received: received)
        }
        #expect(initial([.date: date(-40), .age: "10"]) == .seconds(40))
        #expect(initial([.date: date(-10), .age: "40"], delay: 5) == .seconds(45))
        #expect(initial([.date: date(0)], delay: 5) == .seconds(5))
        #expect(initial([:]) == .zero)
        #expect(initial([.date: "x", .age: "x"], delay: 3) == .seconds(3))
    }

    @Test func originClockAheadMakesNoResponseYounger() {
        #expect(HTTPFreshness.initialAge([.date: date(3600)], delay: .seconds(2), received: received) == .seconds(2))
        // Its own dates still agree with each other.
        #expect(lifetime([.date: date(3600), .expires: date(3660)]) == .seconds(60))
    }

    @Test func settingTheWallClockChangesNoAge() async throws {
        let clock = ManualClock()
        let wall = SettableWall()
        let transport = StubTransport { _ in
            let head = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"])
            return Response(head: head, body: .whole(RawData([], response: head)))
        }
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(clock, wall: { wall.date }))
        let request = cached.request()
        let options = CallOptions(cache: .http())
        _ = try await network.exchange(request, with: Library.self, options: options)
        for jump in [-100_000_000.0, 100_000_000] {
            wall.move(by: jump)
            clock.advance(by: .seconds(29))
            #expect(try await network.exchange(request, with: Library.self, options: options).source == .cache)
        }
        clock.advance(by: .seconds(2))
        #expect(try await network.exchange(request, with: Library.self, options: options).source == .network)
    }

    @Test func ageOfAnotherCacheCounts() async throws {
        let fields: HTTPFields = [.cacheControl: "max-age=60", .age: "60"]
        #expect(try await cached.isSentAgain(fields, after: 0))
        #expect(
            try await HTTPCachedLayer().isSentAgain([.cacheControl: "max-age=60", .date: cached.date(-60)], after: 0))
    }
}
