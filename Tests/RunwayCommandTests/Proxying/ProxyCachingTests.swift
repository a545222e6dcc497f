import Foundation
import Testing

/// `runway proxy --cache http` between curl and nginx: what is cached, and what a revalidation costs.
@Suite(.timeLimit(.minutes(10)), .enabled(if: NginxOrigin.isExpected))
struct ProxyCachingTests {
    private let text = Array("The same page, again and again.\n".utf8)

    @Test func anEntityTagCostsOne304() async throws {
        let nginx = try NginxOrigin()
        try await nginx.serving(text) { file in
            let printed = try await proxying(to: nginx.url) { proxy in
                let url = proxy.url + file.path("no-cache")
                let first = try await fetch(url)
                let second = try await fetch(url)
                #expect(first.status == 200 && first.body == text)
                #expect(second.status == 200 && second.body == text)
                let tag = try #require(first["ETag"])
                #expect(second["ETag"] == tag && second["Content-Length"] == "\(text.count)")
                let own = try await fetch(url, "-H", "If-None-Match: \(tag)")
                #expect(own.status == 304 && own.body.isEmpty && own["ETag"] == tag)
                #expect(
                    try await nginx.exchanges(of: file) == [
                        "GET 200 [-] [-] [-]", "GET 304 [-] [\(logged(tag))] [\(first["Last-Modified"] ?? "")]",
                        "GET 304 [-] [\(logged(tag))] [\(first["Last-Modified"] ?? "")]",
                    ])
                try file.write(Array("Another page.\n".utf8))
                #expect(try await fetch(url).text == "Another page.\n")
            }
            #expect(printed.output.contains("from cache succeeded"))
        }
    }

    @Test func aDateOfModificationCostsOne304() async throws {
        let nginx = try NginxOrigin()
        try await nginx.serving(text) { file in
            _ = try await proxying(to: nginx.url) { proxy in
                let first = try await fetch(proxy.url + file.datedPath("no-cache"))
                let second = try await fetch(proxy.url + file.datedPath("no-cache"))
                #expect(first["ETag"] == nil && second.status == 200 && second.body == text)
                #expect(
                    try await nginx.exchanges(of: file) == [
                        "GET 200 [-] [-] [-]", "GET 304 [-] [-] [\(first["Last-Modified"] ?? "")]",
                    ])
            }
        }
    }

    /// What two GETs cost, by the directives of the first response.
    @Test(arguments: [
        ("max-age=60", [200]), ("private,max-age=60", [200]), ("max-age=60,must-revalidate,immutable", [200]),
        ("s-maxage=0,max-age=60", [200]), ("max-age=99999999999999", [200]),
        ("no-store", [200, 200]), ("no-store,max-age=60", [200, 200]), ("no-cache", [200, 304]),
        ("max-age=0", [200, 304]), ("s-maxage=60,max-age=0", [200, 304]), ("max-age=-1", [200, 304]),
        ("max-age=x", [200, 304]), ("no-cache,max-age=60", [200, 304]),
    ])
    func directivesDecideOnTheNextGet(directives: String, statuses: [Int]) async throws {
        let nginx = try NginxOrigin()
        try await nginx.serving(text) { file in
            _ = try await proxying(to: nginx.url) { proxy in
                for _ in 0..<2 {
                    let response = try await fetch(proxy.url + file.path(directives))
                    #expect(response.status == 200 && response.body == text)
                }
                let flown = try await nginx.exchanges(of: file)
                #expect(flown.map { $0.split(separator: " ")[1] } == statuses.map { "\($0)" }, "\(directives)")
            }
        }
    }

    @Test func onlyOldFilesAreFreshByEstimate() async throws {
        let nginx = try NginxOrigin()
        try await nginx.serving(text) { old in
            try await nginx.serving(text) { new in
                try old.setModified(Date(timeIntervalSinceNow: -365 * 86_400))
                // However long the machine takes to get there, this one has no age from which to estimate.
                try new.setModified(Date(timeIntervalSinceNow: 86_400))
                _ = try await proxying(to: nginx.url) { proxy in
                    for file in [old, old, new, new] { _ = try await fetch(proxy.url + "/proxied/\(file.name)") }
                    #expect(try await nginx.exchanges(of: old).count == 1)
                    #expect(try await nginx.exchanges(of: new).count == 2)
                }
            }
        }
    }

    @Test func aFreshResponseServesGetAndHead() async throws {
        let nginx = try NginxOrigin()
        try await nginx.serving(text) { file in
            _ = try await proxying(to: nginx.url) { proxy in
                let url = proxy.url + file.path("max-age=60")
                let first = try await fetch(url)
                let second = try await fetch(url)
                let head = try await fetch(url, "--head")
                #expect(first["Age"] == nil)
                for response in [second, head] {
                    #expect(response.status == 200)
                    #expect((0...30).contains(response["Age"].flatMap { Int($0) } ?? -1))
                    for name in ["Date", "ETag", "Last-Modified", "Content-Type", "Server", "Content-Length"] {
                        #expect(response.values(of: name) == first.values(of: name), "\(name)")
                    }
                }
                #expect(second.body == text && head.body.isEmpty)
                #expect(try await nginx.exchanges(of: file).count == 1)
            }
        }
    }

    @Test func requestDirectivesAreHeeded() async throws {
        let nginx = try NginxOrigin()
        try await nginx.serving(text) { file in
            _ = try await proxying(to: nginx.url) { proxy in
                let url = proxy.url + file.path("max-age=60")
                let missing = try await fetch(url, "-H", "Cache-Control: only-if-cached")
                #expect(missing.status == 504 && missing.text.contains(#""kind":"notCached""#))
                #expect(try await nginx.exchanges(of: file).isEmpty)
                _ = try await fetch(url)
                #expect(try await fetch(url, "-H", "Cache-Control: only-if-cached").body == text)
                #expect(try await nginx.exchanges(of: file).count == 1)
                for directive in ["no-cache", "max-age=0", "min-fresh=61"] {
                    #expect(try await fetch(url, "-H", "Cache-Control: \(directive)").body == text)
                }
                let flown = try await nginx.exchanges(of: file)
                #expect(flown.map { $0.split(separator: " ")[1] } == ["200", "304", "304", "304"])
            }
        }
    }

    @Test func varyStoresOneResponseForEachVariant() async throws {
        let nginx = try NginxOrigin()
        try await nginx.serving(text) { file in
            _ = try await proxying(to: nginx.url) { proxy in
                let url = proxy.url + file.path("max-age=60")
                for kind in ["a", "b", "a", "b", "c"] {
                    #expect(try await fetch(url + "&vary=X-Kind", "-H", "X-Kind: \(kind)").body == text)
                }
                #expect(try await nginx.exchanges(of: file).count == 3)
                for _ in 0..<2 { _ = try await fetch(url + "&vary=*") }
                #expect(try await nginx.exchanges(of: file).count == 5)
            }
        }
    }

    @Test(arguments: ["Authorization", "Cookie", "X-API-Key", "X-Member"])
    func privateResponsesAreSeparateByClient(name: String) async throws {
        let nginx = try NginxOrigin()
        try await nginx.serving(text) { file in
            _ = try await proxying(to: nginx.url, "--auth-field", "x-member") { proxy in
                let url = proxy.url + file.path("private,max-age=60")
                for client in ["a=1", "a=2", "a=1", "a=2"] {
                    let body = try await fetch(url, "-H", "\(name): \(client)").body
                    #expect(body == text)
                }
                #expect(try await nginx.exchanges(of: file).count == 2)
            }
        }
    }

    /// A suite that numbers its requests, and an app that traces its calls.
    @Test(arguments: ["Req-Num", "sentry-trace", "X-Member"])
    func anyOtherFieldCostsNoHit(name: String) async throws {
        let nginx = try NginxOrigin()
        try await nginx.serving(text) { file in
            _ = try await proxying(to: nginx.url) { proxy in
                for number in 1...4 {
                    let response = try await fetch(
                        proxy.url + file.path("private,max-age=60"), "-H", "\(name): \(number)")
                    #expect(response.body == text)
                }
                #expect(try await nginx.exchanges(of: file).count == 1)
            }
        }
    }

    @Test func eachCodingIsStoredWithItsEntityTag() async throws {
        let nginx = try NginxOrigin()
        try await nginx.serving(text) { file in
            let gzip = try await Tool.run(
                "/usr/bin/env", ["gzip", "-k", file.place.path], input: [], environment: [:])
            #expect(gzip.status == 0)
            let coded = Array(try Data(contentsOf: file.place.appendingPathExtension("gz")))
            _ = try await proxying(to: nginx.url) { proxy in
                var tags: [String] = []
                for path in [file.path("max-age=60"), file.path("no-cache")] {
                    for _ in 0..<2 {
                        let gzip = try await fetch(proxy.url + path, "-H", "Accept-Encoding: gzip")
                        let plain = try await fetch(proxy.url + path)
                        #expect(gzip.body == coded && gzip["Content-Encoding"] == "gzip")
                        #expect(plain.body == text && plain["Content-Encoding"] == nil)
                        tags = [try #require(gzip["ETag"]), try #require(plain["ETag"])]
                        #expect(tags[0] != tags[1])
                    }
                }
                let flown = try await nginx.exchanges(of: file)
                #expect(flown.prefix(4).allSatisfy { $0 == "GET 200 [-] [-] [-]" } && flown.count == 6)
                #expect(flown.dropFirst(4).map { $0.split(separator: " ")[1] } == ["304", "304"])
                #expect(zip(flown.dropFirst(4), tags).allSatisfy { $0.contains("[\(logged($1))]") })
            }
        }
    }

    /// nginx weakens the tag of what it codes on the way, and names the strong one in its 304.
    @Test func codingOnTheWayCostsOne304() async throws {
        let nginx = try NginxOrigin()
        try await nginx.serving([UInt8](repeating: 0x20, count: 5000), endingIn: "html") { file in
            _ = try await proxying(to: nginx.url) { proxy in
                let url = proxy.url + file.path("no-cache")
                let responses = try await [
                    fetch(url, "--compressed"), fetch(url, "--compressed"), fetch(url, "--compressed"),
                ]
                for response in responses {
                    #expect(
                        response.status == 200 && response.body.count == 5000 && response["Content-Encoding"] == "gzip")
                    #expect(response["ETag"]?.hasPrefix("W/") == true)
                }
                let flown = try await nginx.exchanges(of: file)
                #expect(flown.map { $0.split(separator: " ")[1] } == ["200", "304", "304"])
            }
        }
    }

    @Test func requestsThatMayChangeAFileInvalidateIt() async throws {
        let nginx = try NginxOrigin()
        try await nginx.serving(text) { file in
            _ = try await proxying(to: nginx.url) { proxy in
                let url = proxy.url + file.path("max-age=60")
                _ = try await fetch(url)
                // What failed changed nothing (RFC 9111 §4.4).
                #expect(try await fetch(url, "-X", "POST", "-d", "x").status == 405)
                #expect(try await fetch(url).body == text)
                #expect(try await nginx.exchanges(of: file).count == 2)
                #expect(try await fetch(url, "-X", "PUT", "--data-binary", "new").status == 204)
                #expect(try await fetch(url).text == "new")
                #expect(try await fetch(url, "-X", "DELETE").status == 204)
                #expect(try await fetch(url).status == 404)
            }
        }
    }

    /// The log writes quotation marks so.
    private func logged(_ tag: String) -> String { tag.replacing("\"", with: "\\x22") }
}
