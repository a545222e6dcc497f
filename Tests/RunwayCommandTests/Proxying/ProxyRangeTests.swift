import Foundation
import Testing

/// Parts of nginx's files through `runway proxy --cache http` (RFC 9110 §14, RFC 9111 §3.3, §3.4).
@Suite(.timeLimit(.minutes(10)), .enabled(if: NginxOrigin.isExpected))
struct ProxyRangeTests {
    private let bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }

    @Test func aWholeResponseServesItsParts() async throws {
        let nginx = try NginxOrigin()
        try await nginx.serving(bytes) { file in
            _ = try await proxying(to: nginx.url) { proxy in
                let url = proxy.url + file.path("max-age=60")
                let whole = try await fetch(url)
                let tag = try #require(whole["ETag"])
                for (range, expected) in [("10-19", 10..<20), ("-5", 19_995..<20_000), ("19990-", 19_990..<20_000)] {
                    let part = try await fetch(url, "-H", "Range: bytes=\(range)")
                    #expect(part.status == 206 && part.body == Array(bytes[expected]))
                    #expect(
                        part["Content-Range"] == "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/20000")
                    #expect(part["Content-Length"] == "\(expected.count)" && part["ETag"] == tag)
                }
                let same = try await fetch(url, "-H", "Range: bytes=0-9", "-H", "If-Range: \(tag)")
                #expect(same.status == 206 && same.body == Array(bytes[0..<10]))
                let other = try await fetch(url, "-H", "Range: bytes=0-9", "-H", "If-Range: \"other\"")
                #expect(other.status == 200 && other.body == bytes)
                #expect(try await nginx.exchanges(of: file) == ["GET 200 [-] [-] [-]"])
                // What it can't make itself passes to the origin.
                let several = try await fetch(url, "-H", "Range: bytes=0-1,5-6")
                #expect(several.status == 206 && several["Content-Type"]?.hasPrefix("multipart/byteranges") == true)
                #expect(try await fetch(url, "-H", "Range: bytes=90000-").status == 416)
                #expect(try await fetch(url).body == bytes)
            }
        }
    }

    @Test func partsOfOneRepresentationAreCombined() async throws {
        let nginx = try NginxOrigin()
        try await nginx.serving(bytes) { file in
            _ = try await proxying(to: nginx.url) { proxy in
                let url = proxy.url + file.path("max-age=60")
                for range in [0..<1000, 1000..<2000, 500..<1500, 0..<2000] {
                    let part = try await fetch(url, "-H", "Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)")
                    #expect(part.status == 206 && part.body == Array(bytes[range]))
                }
                #expect(
                    try await nginx.exchanges(of: file) == [
                        "GET 206 [bytes=0-999] [-] [-]", "GET 206 [bytes=1000-1999] [-] [-]",
                    ])
                // A part is not the whole.
                let whole = try await fetch(url)
                #expect(whole.status == 200 && whole.body == bytes)
            }
        }
    }

    @Test func partsOfTwoRepresentationsAreNot() async throws {
        let nginx = try NginxOrigin()
        try await nginx.serving(bytes) { file in
            _ = try await proxying(to: nginx.url) { proxy in
                let url = proxy.url + file.path("max-age=60")
                _ = try await fetch(url, "-H", "Range: bytes=0-999")
                let newer = bytes.reversed() + [0]
                try file.write(newer)
                let second = try await fetch(url, "-H", "Range: bytes=1000-1999")
                #expect(second.body == Array(newer[1000..<2000]))
                let both = try await fetch(url, "-H", "Range: bytes=500-1499")
                #expect(both.body == Array(newer[500..<1500]))
                #expect(try await nginx.exchanges(of: file).count == 3)
            }
        }
    }

    @Test func partsWithoutAStrongValidatorAreNot() async throws {
        let nginx = try NginxOrigin()
        try await nginx.serving(bytes) { file in
            _ = try await proxying(to: nginx.url) { proxy in
                let url = proxy.url + file.datedPath("max-age=60")
                for range in [0..<1000, 1000..<2000, 500..<1500] {
                    let part = try await fetch(url, "-H", "Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)")
                    #expect(part.status == 206 && part.body == Array(bytes[range]))
                }
                // The file is of this minute: its date is no strong validator (RFC 9110 §8.8.2.2).
                #expect(try await nginx.exchanges(of: file).count == 3)
            }
        }
    }

    @Test func rangesOfUncachedTargetsAreForwarded() async throws {
        let nginx = try NginxOrigin()
        try await nginx.serving(bytes) { file in
            _ = try await proxying(to: nginx.url, "--cache", "none") { proxy in
                for _ in 0..<2 {
                    let part = try await fetch(
                        proxy.url + file.path("max-age=60"), "-H", "Range: bytes=5-9", "-H", "If-Range: \"other\"")
                    #expect(part.status == 200 && part.body == bytes)
                }
                #expect(try await nginx.exchanges(of: file).count == 2)
            }
        }
    }
}
