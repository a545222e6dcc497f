import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

struct CacheDirectivesTests {
    private func respond(_ values: String...) -> ResponseDirectives {
        var fields = HTTPFields()
        fields[values: .cacheControl] = values
        return ResponseDirectives(fields)
    }

    private func request(_ values: String...) -> RequestDirectives {
        var fields = HTTPFields()
        fields[values: .cacheControl] = values
        return RequestDirectives(fields)
    }

    @Test(arguments: [
        ("max-age=60", 60), ("MAX-AGE=60", 60), ("max-age=\"60\"", 60), ("max-age=0060", 60),
        (" , max-age=60 ,,", 60), ("public, max-age=60", 60), ("max-age=0", 0),
        ("max-age=9999999999999999999999", 1 << 31), ("max-age=2147483649", 1 << 31),
    ])
    func lifetimeIsReadInBothForms(_ value: String, _ seconds: Int64) {
        #expect(respond(value).maxAge == .seconds(seconds))
    }

    @Test(arguments: [
        "max-age", "max-age=", "max-age=-60", "max-age=+60", "max-age=60.0", "max-age=60a", "max-age=a60",
        "max-age=\"60", "max-age='60'", "max-age= 60", "max-age =60", "max-age=60 60", "max-age=\"60\"0",
        "max-age=６０", "max-age=6\u{0}0", "max-age=\"\"", "max-age=1e3",
    ])
    func lifetimeThatIsNoNumberIsNone(_ value: String) {
        #expect(respond(value).maxAge == .zero)
    }

    @Test(arguments: ["", ",", ",,,", "  ", "=", "=60", "\"", "xmax-age=60", "m ax-age=60", "max-agé=60", "max_age=60"])
    func invalidLifetimesAreZero(_ value: String) {
        #expect(respond(value).maxAge == nil)
    }

    @Test func unrecognizedDirectivesAreIgnored() {
        let directives = respond(
            "foo, bar=\"no-store, max-age=0\", max-age=60, community=\"UCI\", ñ=1, s-maxage=5, no-transform")
        #expect(directives.maxAge == .seconds(60))
        #expect(!directives.isNoStore && !directives.isNoCache && !directives.mustRevalidate)
    }

    @Test func smallestOfSeveralLifetimesCounts() {
        #expect(respond("max-age=60, max-age=10").maxAge == .seconds(10))
        #expect(respond("max-age=10", "max-age=60").maxAge == .seconds(10))
        #expect(respond("max-age=60", "max-age=x").maxAge == .zero)
    }

    @Test func stringThatNeverEndsHidesNothing() {
        #expect(respond("foo=\"bar, no-store").isNoStore)
        #expect(respond("foo=\"a\\\", no-store").isNoStore)
        #expect(respond("foo=\"bar", "no-store").isNoStore)
        #expect(!respond("foo=\"bar, no-store\"").isNoStore)
        #expect(!respond("foo=\"\\\", no-store\"").isNoStore)
    }

    @Test func restrictiveDirectiveAppliesWhateverItsArgument() {
        #expect(respond("no-store=x").isNoStore)
        #expect(respond("No-Store=\"x\"").isNoStore)
        #expect(respond("must-revalidate=1").mustRevalidate)
        #expect(respond("no-cache=").isNoCache)
        #expect(respond("no-cache=\"\"").isNoCache)
        #expect(respond("no-cache=\"a b\"").isNoCache)
        #expect(respond("no-cache=\"a\", no-cache").isNoCache)
    }

    @Test func fieldNamesAreReadInBothForms() {
        #expect(respond("no-cache=\"Set-Cookie, X-a\"").noCacheFields == ["set-cookie", "x-a"])
        #expect(respond("no-cache=Set-Cookie").noCacheFields == ["set-cookie"])
        #expect(!respond("no-cache=\"Set-Cookie\"").isNoCache)
        #expect(respond("no-cache=\"a\", no-cache=\"b\"").noCacheFields == ["a", "b"])
        #expect(respond("private=\"a\"").isPrivate && respond("private").isPrivate)
    }

    @Test func argumentWithLeadingCombiningCharacterHidesNoDirective() {
        #expect(CacheDirectives(["no-store=\u{301}x, max-age=\u{301}"]).has("no-store"))
        #expect(CacheDirectives(["max-age=\u{301}"]).duration("max-age") == .zero)
    }

    @Test func argumentOfImmutableHasNoMeaning() {
        #expect(respond("immutable").isImmutable)
        #expect(respond("immutable=no").isImmutable)
        #expect(respond("immutable, immutable").isImmutable)
    }

    @Test func staleDirectivesAreRead() {
        let directives = respond("max-age=1, stale-while-revalidate=2, stale-if-error=3")
        #expect(directives.staleWhileRevalidate == .seconds(2) && directives.staleIfError == .seconds(3))
        #expect(respond("stale-if-error").staleIfError == .zero)
        #expect(respond("max-age=1").staleWhileRevalidate == nil)
    }

    @Test func requestDirectivesAreRead() {
        #expect(request("max-stale").maxStale == RequestDirectives.anyStaleness)
        #expect(request("max-stale=5").maxStale == .seconds(5))
        #expect(request("max-stale=x").maxStale == .zero)
        #expect(request("max-stale=5, max-stale").maxStale == .seconds(5))
        #expect(request("min-fresh=5, min-fresh=7").minFresh == .seconds(7))
        #expect(request("min-fresh=x").minFresh == .seconds(1 << 31))
        #expect(request("max-age=x").maxAge == .zero)
        #expect(request("only-if-cached").isOnlyIfCached && request("no-store").isNoStore)
        #expect(request("stale-if-error=9").staleIfError == .seconds(9))
        #expect(request("immutable, no-transform").maxAge == nil)
    }

    @Test func pragmaCountsOnlyWhereCacheControlIsMissing() throws {
        var fields = HTTPFields()
        fields[.pragma] = "no-cache"
        #expect(RequestDirectives(fields).isNoCache)
        fields[.cacheControl] = "max-age=60"
        #expect(!RequestDirectives(fields).isNoCache)
    }

    @Test func noTextHidesTheDirectiveBehindIt() {
        var random = SeededGenerator(seed: 41)
        let pieces = [
            "m", "max-age", "=", "\"", "\\", ",", " ", "\t", "0", "99", "é", "no-cache", "\u{1}", "\u{301}", "private",
        ]
        for _ in 0..<5000 {
            let count = Int.random(in: 0...40, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "m" }.joined()
            let directives = respond(text + ", no-store")
            #expect(directives.isNoStore, "\(text)")
            #expect(directives.maxAge.map { (Duration.zero ... .seconds(1 << 31)).contains($0) } ?? true, "\(text)")
        }
    }

    @Test(.timeLimit(.minutes(5))) func unterminatedStringsAreReadInLinearTime() {
        let text = "a=\"" + String(repeating: "\\\"", count: 600_000) + ", no-store"
        #expect(respond(text).isNoStore)
    }
}
