import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// Responses stored by time that have a validator: refetching an unchanged one costs one 304.
struct RenewalTests {
    private static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"

    private let layer = CachedLayer()
    private let options = CallOptions.policy(.timeToLive(.seconds(10)))

    private func respond(_ fields: HTTPFields, _ text: String = #"{"n":1}"#, status: HTTPResponse.Status = .ok) {
        var response = Response.json(text, status: status)
        response.head.headerFields.append(contentsOf: fields)
        layer.server.respond(with: .success(response))
    }

    private func respondNotModified(_ fields: HTTPFields = [:]) {
        layer.server.respond(
            with: .success(
                Response(
                    head: HTTPResponse(status: .notModified, headerFields: fields), body: .whole(RawData([])))))
    }

    /// The header fields of the request that was sent last.
    private var sent: HTTPFields { layer.transport.requests.last?.head.headerFields ?? [:] }

    @Test(
        arguments: [
            ([.eTag: "\"a\""], ["\"a\"", nil]), ([.eTag: "W/\"a\""], ["W/\"a\"", nil]),
            ([.lastModified: RenewalTests.modified], [nil, RenewalTests.modified]),
            ([.eTag: "\"a\"", .lastModified: RenewalTests.modified], ["\"a\"", RenewalTests.modified]),
        ] as [(HTTPFields, [String?])])
    func notModifiedRenewsAndLandsTheStoredResponse(fields: HTTPFields, conditions: [String?]) async throws {
        respond(fields)
        #expect(try await layer.number(options) == 1)
        for round in 1...3 {
            layer.clock.advance(by: .seconds(12))
            respondNotModified()
            let renewed = try await layer.network.call(Work(), options: options)
            #expect(renewed["n"].int == 1 && renewed.source == .cache && renewed.response.status == .ok)
            #expect([sent[.ifNoneMatch], sent[.ifModifiedSince]] == conditions)
            let decisions = await layer.lastDecisions()
            #expect(decisions.prefix(2) == [.validating(staleBy: .seconds(round == 1 ? 2 : 12)), .notModified])
            guard case .stored = decisions.last else { return #expect(Bool(false), "\(decisions)") }
            layer.clock.advance(by: .seconds(9))
            #expect(try await layer.network.call(Work(), options: options).source == .cache)
            #expect(layer.server.requestCount == 1 + round, "the lifetime began anew")
            layer.clock.advance(by: .seconds(1))
        }
    }

    @Test func fieldsOfThe304ReplaceStoredFields() async throws {
        respond([.eTag: "\"a\"", .cacheControl: "max-age=1"])
        _ = try await layer.number(options)
        layer.clock.advance(by: .seconds(10))
        respondNotModified([.eTag: "\"a\"", .cacheControl: "max-age=2", .contentLength: "0"])
        for _ in 0..<2 {
            let fields = try await layer.network.call(Work(), options: options).response.headerFields
            #expect(fields[.cacheControl] == "max-age=2" && fields[.contentType] == "application/json")
            #expect(fields[.contentLength] != "0")
        }
    }

    @Test func changedResponseReplacesTheStoredOne() async throws {
        respond([.eTag: "\"a\""])
        _ = try await layer.number(options)
        layer.clock.advance(by: .seconds(10))
        respond([.eTag: "\"b\""], #"{"n":2}"#)
        let changed = try await layer.network.call(Work(), options: options)
        #expect(changed["n"].int == 2 && changed.source == .network)
        layer.clock.advance(by: .seconds(10))
        respondNotModified([.eTag: "\"b\""])
        #expect(try await layer.number(options) == 2)
        #expect(sent[.ifNoneMatch] == "\"b\"")
    }

    @Test(arguments: [[.eTag: ""], [.eTag: "\"a\", \"b\""], [:]] as [HTTPFields])
    func withoutAValidatorNoneIsSent(fields: HTTPFields) async throws {
        var fields = fields
        if fields[.eTag]?.contains(",") == true { fields[values: .eTag] = ["\"a\"", "\"b\""] }
        respond(fields)
        _ = try await layer.number(options)
        layer.clock.advance(by: .seconds(10))
        _ = try await layer.number(options)
        #expect(layer.server.requestCount == 2)
        #expect(!sent.contains(.ifNoneMatch) && !sent.contains(.ifModifiedSince))
        #expect(await layer.lastDecisions().first == .expired(by: .zero))
    }

    @Test func aRefreshSendsNoValidator() async throws {
        respond([.eTag: "\"a\""])
        _ = try await layer.number(options)
        for seconds in [0, 10] {
            layer.clock.advance(by: .seconds(seconds))
            _ = try await layer.number(.policy(.timeToLive(.seconds(10)), .refresh))
            #expect(!sent.contains(.ifNoneMatch))
        }
        respondNotModified()
        let refresh = CallOptions.policy(.timeToLive(.seconds(10)), .refresh)
        #expect(await layer.failure(Work(), refresh)?.kind == .invalidResponse)
    }

    @Test func conditionsOfTheEndpointStayItsOwn() async throws {
        let fields: [[String: String]] = [
            ["If-Match": "\"x\""], ["If-Unmodified-Since": Self.modified], ["Range": "bytes=0-1"],
            ["If-None-Match": "\"x\""], ["If-Modified-Since": Self.modified],
        ]
        for own in fields {
            respond([.eTag: "\"a\""])
            _ = try await layer.number(Work(fields: own), options)
            layer.clock.advance(by: .seconds(10))
            let count = layer.server.requestCount
            _ = try await layer.number(Work(fields: own), options)
            #expect(layer.server.requestCount == count + 1)
            #expect(sent[.ifNoneMatch] == own["If-None-Match"] && sent[.ifModifiedSince] == own["If-Modified-Since"])
        }
    }

    @Test func readByPostIsSentAsItIs() async throws {
        respond([.eTag: "\"a\""])
        _ = try await layer.number(Search(text: "a"), options)
        layer.clock.advance(by: .seconds(10))
        _ = try await layer.number(Search(text: "a"), options)
        #expect(layer.server.requestCount == 2 && !sent.contains(.ifNoneMatch))
    }

    @Test(
        arguments: [
            ([.eTag: "\"a\""], [.eTag: "\"z\""]), ([.lastModified: RenewalTests.modified], [.lastModified: "elsewhen"]),
        ] as [(HTTPFields, HTTPFields)])
    func otherResponses304IsRepeatedWithoutConditions(stored: HTTPFields, named: HTTPFields) async throws {
        respond(stored)
        _ = try await layer.number(options)
        layer.clock.advance(by: .seconds(10))
        respondNotModified(named)
        let error = await layer.failure(Work(), options)
        #expect(error?.kind == .invalidResponse, "a 304 to a request without conditions is invalid")
        #expect(layer.server.requestCount == 3 && !sent.contains(.ifNoneMatch) && !sent.contains(.ifModifiedSince))
        #expect(await layer.lastDecisions().contains(.unmatchedNotModified))
    }

    @Test func aStrongTagConfirmsItsWeakForm() async throws {
        respond([.eTag: "W/\"a\""])
        _ = try await layer.number(options)
        layer.clock.advance(by: .seconds(10))
        respondNotModified([.eTag: "\"a\""])
        #expect(try await layer.network.call(Work(), options: options).source == .cache)
    }

    @Test func aRejectedRenewalIsFetchedAgain() async throws {
        respond([.eTag: "\"a\""])
        _ = try await layer.number(options)
        layer.clock.advance(by: .seconds(10))
        respondNotModified()
        let error = await layer.failure(Work(refused: "n"), options)
        // The second request has no conditions, and this server says 304 again.
        #expect(error?.kind == .invalidResponse && layer.server.requestCount == 3 && !sent.contains(.ifNoneMatch))
        #expect(layer.network.cache.count == 0, "a rejected response is removed, renewed or not")
    }

    @Test func aRefusedTokenIsNoRenewal() async throws {
        respond([.eTag: "\"a\""])
        _ = try await layer.number(options)
        layer.clock.advance(by: .seconds(10))
        respond([:], "{}", status: .unauthorized)
        #expect(await layer.failure(Work(), options)?.kind == .needsAccessToken)
        #expect(layer.network.cache.count == 1)
    }

    @Test(arguments: [CachePolicy.timeToLive(.seconds(10)), .http()])
    func a304HasNoEnvelopeToRead(policy: CachePolicy) async throws {
        respond([.eTag: "\"a\"", .cacheControl: "max-age=10"], #"{"code":0,"n":1}"#)
        _ = try await layer.number(PaintingList(), .policy(policy))
        layer.clock.advance(by: .seconds(10))
        respondNotModified()
        let rawData = try await layer.network.call(PaintingList(), options: .policy(policy))
        #expect(rawData["n"].int == 1 && rawData.source == .cache && layer.server.requestCount == 2)
    }

    @Test func eachAccountRenewsItsOwn() async throws {
        for account in ["ann", "bob"] {
            layer.network.configure(Gallery.self) { $0.account = account }
            respond([.eTag: "\"\(account)\""], #"{"n":\#(account == "ann" ? 1 : 2)}"#)
            _ = try await layer.number(options)
        }
        layer.clock.advance(by: .seconds(10))
        respondNotModified()
        for (account, number) in [("ann", 1), ("bob", 2)] {
            layer.network.configure(Gallery.self) { $0.account = account }
            #expect(try await layer.number(options) == number)
            #expect(sent[.ifNoneMatch] == "\"\(account)\"")
        }
    }

    @Test func failureMayBeReplacedByAStaleResponse() async throws {
        let lenient = CallOptions.policy(.timeToLive(.seconds(10), staleIfError: .seconds(60)))
        respond([.eTag: "\"a\""])
        _ = try await layer.number(lenient)
        layer.clock.advance(by: .seconds(10))
        respond([:], "{}", status: .internalServerError)
        #expect(try await layer.network.call(Work(), options: lenient).source == .staleCache)
        #expect(await layer.failure(Work(), options)?.status == .internalServerError)
        #expect(sent[.ifNoneMatch] == "\"a\"")
    }

    @Test func tierEntryIsRenewedToo() async throws {
        let layer = CachedLayer(diskCache: MapTier())
        let below = CallOptions.policy(.timeToLive(.zero, diskLifetime: .seconds(10)))
        var response = Response.json(#"{"n":1}"#)
        response.head.headerFields[.eTag] = "\"a\""
        layer.server.respond(with: .success(response))
        _ = try await layer.number(below)
        layer.clock.advance(by: .seconds(10))
        layer.server.respond(
            with: .success(Response(head: HTTPResponse(status: .notModified), body: .whole(RawData([])))))
        for _ in 0..<2 { #expect(try await layer.network.call(Work(), options: below).source == .cache) }
        #expect(layer.server.requestCount == 2)
    }
}
