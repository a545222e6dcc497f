import AppleFoundation
import HTTPTypes
import RunwayTesting
import Security
import Testing

@testable import Runway

@Suite(.timeLimit(.minutes(5)))
struct ResponseTests {
    /// Parts larger than the limit: each suspends the task, and its reader, who may be faster, resumes it. The next part comes after the
    /// suspension, or was on its way before it.
    @Test(arguments: [true, false])
    func streamedResponseArrivesWholeWhateverItsReaderDoes(_ isNextPartLater: Bool) async throws {
        let parts = 5
        let network = layer(.init(maximumBufferedByteCount: 1 << 16)) { exchange in
            await exchange.respond()
            for part in 0..<parts {
                await exchange.send([UInt8](repeating: UInt8(part), count: 1 << 17))
                if isNextPartLater { await exchange.waitForDelegate() }
            }
            await exchange.complete()
        }
        let response = try await network.stream(Get())
        #expect(try await response.body.collect(upTo: 1 << 24).count == parts << 17)
    }

    @Test func readerThatFallsBehindSuspendsTheTask() async throws {
        let suspended = ScriptedGate()
        let network = layer(.init(maximumBufferedByteCount: 1 << 16)) { exchange in
            await exchange.respond()
            while !exchange.isSuspended {
                await exchange.send([UInt8](repeating: 1, count: 1 << 15))
                // Afterwards the delegate has suspended the task, or will not; a part would wait in a suspended one.
                await exchange.waitForDelegate()
            }
            try? await suspended.pass()
            await exchange.send([2])
            await exchange.complete()
        }
        let response = try await network.stream(Get())
        try await suspended.waitForArrivals()
        suspended.open()
        let bytes = try await response.body.collect(upTo: 1 << 24)
        #expect(bytes.last == 2 && bytes.count > 1 << 16)
    }

    @Test func redirectIsTheResponse() async throws {
        let followed = Seen<Bool>()
        let network = layer { exchange in
            followed.note(await exchange.redirect(303, to: URL(string: "https://elsewhere.test/b")!) != nil)
            await exchange.respond(303, ["Location": "https://elsewhere.test/b"])
            await exchange.complete()
        }
        // The layer's own stage follows it, and finds nobody.
        let error = try await network.failure(of: Get())
        #expect(followed.all == [false])
        #expect(error.kind == .noNetwork && error.detail.contains("elsewhere.test"))
    }

    @Test func challengesOfServersAreLeftToStages() async throws {
        let decided = Seen<URLSession.AuthChallengeDisposition>()
        let network = layer { exchange in
            let host = exchange.request.url!.host!
            for space in [
                URLProtectionSpace(fakeHost: host, method: NSURLAuthenticationMethodServerTrust),
                URLProtectionSpace(fakeHost: host, method: NSURLAuthenticationMethodHTTPBasic),
                URLProtectionSpace(fakeHost: "proxy", method: NSURLAuthenticationMethodHTTPBasic, proxyType: "https"),
            ] { decided.note(await exchange.challenge(space)) }
            await exchange.respond(401)
            await exchange.complete()
        }
        #expect(try await network.failure(of: Get()).status == .unauthorized)
        #expect(decided.all == [.performDefaultHandling, .rejectProtectionSpace, .performDefaultHandling])
    }

    @Test(arguments: ["gzip", "br", "deflate", "zstd"])
    func codingThatTheSessionDecodedIsNotNamed(_ coding: String) async throws {
        let network = layer { exchange in
            await exchange.respond(200, ["Content-Encoding": coding, "Content-Length": "9"])
            await exchange.send(Array("decoded".utf8))
            await exchange.complete()
        }
        let raw = try await network.call(Get())
        #expect(raw.response.headerFields[.contentEncoding] == nil && raw.response.headerFields[.contentLength] == nil)
        #expect(raw.text == "decoded")
    }

    @Test func codingThatTheSystemDoesNotDecodeStaysNamed() async throws {
        func coding(_ coding: String, decodesZstd: Bool) throws -> String? {
            let response = try #require(
                HTTPURLResponse(
                    url: URL(string: "https://a.test/")!, statusCode: 200, httpVersion: nil,
                    headerFields: ["Content-Encoding": coding]))
            let (head, _, isDecoded) = HTTPResponse.reading(response, decodesZstd: decodesZstd)
            #expect(isDecoded == (head.headerFields[.contentEncoding] == nil))
            return head.headerFields[.contentEncoding]
        }
        #expect(try coding("zstd", decodesZstd: false) == "zstd" && coding("zstd", decodesZstd: true) == nil)
        #expect(try coding("gzip, zstd", decodesZstd: false) == "gzip, zstd")
        #expect(try coding("gzip", decodesZstd: false) == nil && coding("compress", decodesZstd: true) == "compress")
    }

    @Test func joinedCookiesAreSplitAndOtherFieldsAreNot() async throws {
        let network = layer { exchange in
            await exchange.respond(
                200, ["Set-Cookie": "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT, b=2", "Vary": "A, B"])
            await exchange.complete()
        }
        let fields = try await network.call(Get()).response.headerFields
        #expect(fields[values: .setCookie] == ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=2"])
        #expect(fields[values: .vary] == ["A, B"])
    }

    /// A session may report what was on its way when its task was cancelled.
    @Test func dataAfterACancellationIsIgnored() async throws {
        let url = try #require(URL(string: "https://a.test/"))
        let network = NetworkLayer(transport: StubTransport { _ in .json("{}") })
        let session = URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: nil)
        let exchange = URLSessionExchange(
            session.dataTask(with: URLRequest(url: url)),
            for: Request(
                head: HTTPRequest(method: .get, scheme: "https", authority: "a.test", path: "/"), delivery: .streamed),
            in: network.makeFlight(Get.self, CallOptions()), nil, maximumBufferedByteCount: 1 << 16)
        exchange.receive(
            try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: [:])))
        exchange.receive(Data([1]))
        let response = try await exchange.response()
        exchange.stop(CancellationError())
        exchange.receive(Data([2]))
        guard case .stream(let body) = response.body else {
            Issue.record("the body is no stream")
            return
        }
        var parts: [[UInt8]] = []
        let error = await #expect(throws: NetworkError.self) { for try await part in body { parts.append(part) } }
        #expect(parts == [[1]] && error?.kind == .cancelled)
    }

    @Test func handshakeThatWasCutIsNoMatterOfTrust() async throws {
        func error(_ domain: Int, _ code: Int) async throws -> NetworkError {
            let info = ["_kCFStreamErrorDomainKey": domain, "_kCFStreamErrorCodeKey": code]
            return try await layer { await $0.complete(URLError(.secureConnectionFailed, userInfo: info)) }.failure(
                of: Get())
        }
        let cut = try await error(3, -9816)
        #expect(cut.kind == .noNetwork && cut.sending == .notSent)
        #expect(try await error(1, 54).kind == .noNetwork)
        #expect(try await error(3, -9836).kind == .notTrusted)
    }

    /// The session sends a request again over another connection.
    @Test(arguments: [false, true])
    func cutHandshakeAfterBytesOfTheBodyIsNotUnsent(_ hasSent: Bool) async throws {
        let network = layer { exchange in
            if hasSent { _ = await exchange.body() }
            let info = ["_kCFStreamErrorDomainKey": 3, "_kCFStreamErrorCodeKey": -9816]
            await exchange.complete(URLError(.secureConnectionFailed, userInfo: info))
        }
        let error = try await network.failure(of: Post(content: .bytes([1, 2, 3])))
        #expect(error.kind == .noNetwork && error.sending == (hasSent ? .unknown : .notSent), "\(error)")
        #expect(error.underlying is URLError)
    }

    @Test(arguments: [
        (1, "may cost money"), (2, "Low Data Mode"), (0, "mobile network"), (9, "no network for it"),
    ])
    func errorSaysWhichNetworkTheRequestMayNotUse(_ reason: Int, _ text: String) async throws {
        let info = ["NSURLErrorNetworkUnavailableReasonKey": reason]
        let error = try await layer { await $0.complete(URLError(.notConnectedToInternet, userInfo: info)) }.failure(
            of: Get())
        #expect(error.kind == .noNetwork && error.sending == .notSent && error.detail.contains(text), "\(error)")
    }

    @Test func recordHasWhatTheSystemMeasured() async throws {
        let records = RecordCollector()
        let network = layer(sinks: [records]) { exchange in
            await exchange.respond()
            let transaction = URLSessionTaskTransactionMetrics()
            let start = Date(timeIntervalSince1970: 1000)
            transaction.fetchStartDate = start
            transaction.domainLookupStartDate = start
            transaction.domainLookupEndDate = start.addingTimeInterval(0.5)
            transaction.connectStartDate = start.addingTimeInterval(0.5)
            transaction.secureConnectionStartDate = start.addingTimeInterval(1)
            transaction.secureConnectionEndDate = start.addingTimeInterval(3)
            transaction.connectEndDate = start.addingTimeInterval(3)
            transaction.networkProtocolName = "h3"
            transaction.negotiatedTLSProtocolVersion = .TLSv13
            (transaction.remoteAddress, transaction.remotePort) = ("::1", 443)
            transaction.countOfResponseBodyBytesReceived = 3 << 30
            await exchange.complete(nil, URLSessionTaskMetrics(fakeOf: [transaction]))
        }
        _ = try await network.call(Get())
        let request = try #require(try await records.records(count: 1).first?.attempts.first)
        #expect(
            request.httpVersion == "HTTP/3" && request.wire?.tlsVersion == "TLSv1.3"
                && request.wire?.address == "[::1]:443")
        #expect(
            request.wire?.dns == .seconds(0.5) && request.wire?.tcp == .seconds(0.5) && request.wire?.tls == .seconds(2)
        )
        #expect(request.wire?.receivedByteCount == 3 << 30)
    }
}
