import Foundation
import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// Random responses, clocks and requests, against integer arithmetic that shares no code with the cache.
struct HTTPFreshnessModelTests {
    /// How many sequences are played; `RUNWAY_CACHE_SEQUENCES` asks for more.
    static let count = ProcessInfo.processInfo.environment["RUNWAY_CACHE_SEQUENCES"].flatMap { Int($0) } ?? 1000

    @Test func freshnessMatchesTheArithmetic() async throws {
        for seed in Seeds.some(Self.count) {
            await Task.yield()
            var play = Play(seed: seed)
            let problems = try await play.run()
            try #require(problems.isEmpty, "seed \(seed): \(problems)")
        }
    }
}

/// The state of the one stored response in the model, in seconds since the start.
private struct Stored {
    var body: Int
    var lifetime: Int
    var ageAtReceipt: Int
    var receivedAt: Int
    var mustRevalidate: Bool
    var noCache: Bool
    var staleIfError: Int?
    var tag: Int?
}

private struct Play {
    private var random: SeededGenerator
    private let cached = HTTPCachedLayer(isInProcess: true)
    private let start = 1_767_225_600
    private var now = 0
    private var stored: Stored?
    private var bodies = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func run() async throws -> [String] {
        var problems: [String] = []
        for step in 0..<12 {
            let pause = number(0...30)
            now += pause
            cached.advance(Double(pause))
            if let problem = try await call() { problems.append("step \(step): \(problem)") }
        }
        return problems
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    private mutating func chance(_ one: Int) -> Bool { number(1...one) == 1 }

    /// Makes a call; says what was wrong.
    private mutating func call() async throws -> String? {
        let maxAge = chance(4) ? number(0...30) : nil
        let minFresh = chance(5) ? number(0...20) : nil
        let maxStale = chance(4) ? number(0...30) : nil
        let wishes = [
            maxAge.map { "max-age=\($0)" }, minFresh.map { "min-fresh=\($0)" }, maxStale.map { "max-stale=\($0)" },
        ].compactMap { $0 }
        var request = HTTPFields()
        if !wishes.isEmpty { request[.cacheControl] = wishes.joined(separator: ", ") }

        let isExpected = stored.map { serves($0, maxAge, minFresh, maxStale) } ?? false
        let recordedBody = stored.map { "\($0.body)" }
        let storedAge = stored.map { $0.ageAtReceipt + now - $0.receivedAt }
        let sentBefore = cached.sent
        var expectedBody: String?
        if !isExpected {
            switch number(0...5) {
            case 0 where stored?.tag != nil: expectedBody = scriptNotModified()
            case 1: expectedBody = scriptError(maxAge)
            default: expectedBody = scriptResponse()
            }
        }
        let response = try await cached.send("/a", request)
        let wasSent = cached.sent > sentBefore
        if wasSent == isExpected {
            return "sent: \(wasSent), as \(String(describing: stored)) with \(wishes) at \(now)"
        }
        if isExpected {
            if response.text != recordedBody { return "another body" }
            if response.head.headerFields[.age] != storedAge.map({ "\($0)" }) { return "another age" }
        } else if response.text != expectedBody {
            return "\(response.text ?? "-") for \(expectedBody ?? "-")"
        }
        return nil
    }

    private func serves(_ stored: Stored, _ maxAge: Int?, _ minFresh: Int?, _ maxStale: Int?) -> Bool {
        if stored.noCache { return false }
        let age = stored.ageAtReceipt + now - stored.receivedAt
        let isStale = age >= stored.lifetime
        if isStale && (stored.mustRevalidate || maxStale == nil) { return false }
        // By how much the response misses each directive of the request.
        var misses: [Int] = []
        if isStale { misses.append(age - stored.lifetime) }
        if let maxAge, age > maxAge || maxAge == 0 { misses.append(age - maxAge) }
        if let minFresh, stored.lifetime - age < minFresh { misses.append(minFresh - (stored.lifetime - age)) }
        return misses.allSatisfy { miss in maxStale.map { miss <= $0 } ?? false }
    }

    private mutating func scriptResponse() -> String {
        bodies += 1
        let delay = number(0...3)
        let dateOffset = chance(3) ? number(-20...20) : 0
        let ageField = chance(3) ? number(0...20) : 0
        var directives: [String] = []
        let maxAge = chance(3) ? nil : number(0...60)
        let expires = chance(2) ? number(-10...60) : nil
        let modified = chance(2) ? number(0...400) : nil
        if let maxAge { directives.append("max-age=\(maxAge)") }
        let mustRevalidate = chance(4)
        if mustRevalidate { directives.append("must-revalidate") }
        let noCache = chance(8)
        if noCache { directives.append("no-cache") }
        let staleIfError = chance(3) ? number(0...30) : nil
        if let staleIfError { directives.append("stale-if-error=\(staleIfError)") }
        let noStore = chance(8)
        if noStore { directives.append("no-store") }
        let tag = chance(2) ? number(1...1000) : nil

        now += delay
        let date = start + now + dateOffset
        var fields = HTTPFields()
        if !directives.isEmpty { fields[.cacheControl] = directives.joined(separator: ", ") }
        fields[.date] = HTTPDate(seconds: Int64(date)).text
        if ageField > 0 { fields[.age] = "\(ageField)" }
        if let expires { fields[.expires] = HTTPDate(seconds: Int64(date + expires)).text }
        if let modified { fields[.lastModified] = HTTPDate(seconds: Int64(date - modified * 10)).text }
        if let tag { fields[.eTag] = "\"\(tag)\"" }
        cached.respond("\(bodies)", fields, after: Double(delay))
        stored =
            noStore
            ? nil
            : Stored(
                body: bodies, lifetime: max(0, maxAge ?? expires ?? modified ?? 0),
                ageAtReceipt: max(max(0, -dateOffset), ageField + delay), receivedAt: now,
                mustRevalidate: mustRevalidate, noCache: noCache, staleIfError: staleIfError, tag: tag)
        return "\(bodies)"
    }

    private mutating func scriptNotModified() -> String? {
        guard let tag = stored?.tag, let body = stored?.body else { return nil }
        let lifetime = number(1...60)
        cached.respond(
            status: .notModified,
            [
                .eTag: "\"\(tag)\"", .cacheControl: "max-age=\(lifetime)",
                .date: HTTPDate(seconds: Int64(start + now)).text,
            ])
        stored = Stored(
            body: body, lifetime: lifetime, ageAtReceipt: 0, receivedAt: now, mustRevalidate: false, noCache: false,
            tag: tag)
        return "\(body)"
    }

    private mutating func scriptError(_ maxAge: Int?) -> String {
        cached.respond("error", status: .internalServerError)
        guard let stored, !stored.noCache, !stored.mustRevalidate, let limit = stored.staleIfError else {
            return "error"
        }
        let staleBy = max(0, stored.ageAtReceipt + now - stored.receivedAt - stored.lifetime)
        return staleBy <= limit ? "\(stored.body)" : "error"
    }
}
