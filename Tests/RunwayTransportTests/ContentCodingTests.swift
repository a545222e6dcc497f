import Foundation
import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTransport
import Testing

/// Texts as other programs compress them.
enum Coded {
    static let text = String(repeating: "上海 rental listings, 价格 5000.\n", count: 40)
    /// `text` as `gzip` writes it.
    static let gzip = bytes(
        """
        H4sIAAAAAAAC/3uyo+vZ1u0KRal5JYk5CjmZxSWZeenFOgpPdm9/tmCPgqmBgYEe15NRRaOKRhWNKhpVNFgVAQBGmL1XyAUAAA==
        """)
    /// `text` in the format that HTTP calls deflate: zlib's, RFC 1950.
    static let deflate = bytes(
        """
        eJx7sqPr2dbtCkWpeSWJOQo5mcUlmXnpxToKT3Zvf7Zgj4KpgYGBHteTUUWjikYVjSoaVTRYFQEAe4ma/w==
        """)
    /// `text` as some servers send it and call it deflate: RFC 1951 without zlib's frame.
    static let rawDeflate = bytes(
        """
        e7Kj69nW7QpFqXkliTkKOZnFJZl56cU6Ck92b3+2YI+CqYGBgR7Xk1FFo4pGFY0qGlU0WBUBAA==
        """)
    /// 128 KiB of nothing, in 161 bytes of gzip.
    static let zeros = bytes(
        """
        H4sIAAAAAAAC/+3BMQEAAADCoPVP7WENoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
        AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
        AABuzc3ofgAAAgA=
        """)

    private static func bytes(_ base64: String) -> [UInt8] {
        Array(Data(base64Encoded: base64, options: .ignoreUnknownCharacters) ?? Data())
    }
}

/// Content codings are undone below the layer.
@Suite(.timeLimit(.minutes(10)), .overEveryTransport)
struct ContentCodingTests {
    private func respond(to response: ScriptedResponse) async throws -> RawData {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: response)
            return try await NetworkLayer(to: origin.baseURL).call(Fetch<GET>("a"))
        }
    }

    private func failure(of response: ScriptedResponse) async throws -> NetworkError {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: response)
            return try await NetworkLayer(to: origin.baseURL).failure(of: Fetch<GET>("a"))
        }
    }

    @Test(arguments: [("gzip", Coded.gzip), ("GZIP", Coded.gzip), ("deflate", Coded.deflate)])
    func codingsAreUndoneInBodyAndHead(coding: String, body: [UInt8]) async throws {
        let raw = try await respond(
            to: .bytes(body, contentType: "text/plain; charset=utf-8").header(.contentEncoding, coding))
        #expect(raw.text == Coded.text)
        #expect(raw.response.headerFields[.contentEncoding] == nil)
        #expect(raw.response.headerFields[.contentLength] == nil)
        #expect(raw.response.headerFields[.contentType] == "text/plain; charset=utf-8")
    }

    @Test func codingsAreUndoneInStreams() async throws {
        try await withScriptedOrigin { origin in
            let pieces = stride(from: 0, to: Coded.gzip.count, by: 7).map { Array(Coded.gzip[$0...].prefix(7)) }
            var scripted = ScriptedResponse(headerFields: [.contentEncoding: "gzip"], chunks: pieces)
            scripted.framing = .chunked
            origin.on("/a", respond: scripted)
            let response = try await NetworkLayer(to: origin.baseURL).stream(Fetch<GET>("a"))
            #expect(try await response.body.text() == Coded.text)
            #expect(response.response.headerFields[.contentEncoding] == nil)
        }
    }

    @Test(.exceptSessionOnLinux("libcurl refuses codings that it does not know"))
    func unknownCodingIsNamedAsAnInvalidResponse() async throws {
        let error = try await failure(of: .text("as it came").header(.contentEncoding, "compress"))
        #expect(error.kind == .invalidResponse && error.detail.contains("content coding \"compress\""))
        let raw = try #require(error.rawData)
        #expect(raw.text == "as it came")
        #expect(raw.response.headerFields[.contentEncoding] == "compress")
        #expect(raw.response.headerFields[.contentLength] == "10")
    }

    @Test(.exceptSessionOnLinux("libcurl refuses codings that it does not know"))
    func streamsUnknownCodingIsAnInvalidResponse() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .text("as it came").header(.contentEncoding, "compress"))
            let network = try NetworkLayer(to: origin.baseURL)
            await #expect { _ = try await network.stream(Fetch<GET>("a")) } throws: { error in
                (error as? NetworkError)?.kind == .invalidResponse && "\(error)".contains("\"compress\"")
            }
        }
    }

    @Test(.exceptSessionOnLinux("libcurl refuses codings that it does not know"))
    func codedPartIsAnErrorUnlessRequested() async throws {
        try await withScriptedOrigin { origin in
            let part = ScriptedResponse.text("part", status: .partialContent)
                .header(.contentRange, "bytes 0-3/10").header(.contentEncoding, "compress")
            origin.on("/a", respond: part)
            let network = try NetworkLayer(to: origin.baseURL)
            let error = try await network.failure(of: Fetch<GET>("a", headers: ["range": "bytes=0-3"]))
            #expect(error.kind == .invalidResponse && error.detail.contains("content coding \"compress\""))
            let raw = try await network.call(
                Fetch<GET>("a", headers: ["range": "bytes=0-3", "accept-encoding": "compress"]))
            #expect(raw.text == "part")
        }
    }

    @Test(.exceptSessionOnLinux("libcurl refuses codings that it does not know"))
    func requestedCodingIsLeftToTheCall() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .text("as it came").header(.contentEncoding, "compress"))
            let raw = try await NetworkLayer(to: origin.baseURL).call(
                Fetch<GET>("a", headers: ["accept-encoding": "compress"]))
            #expect(raw.text == "as it came")
        }
    }

    /// Servers that send such a token send the body as it is.
    @Test(
        .exceptSessionOnLinux("libcurl refuses codings that it does not know"),
        arguments: ["UTF-8", "none", "aws-chunked", "binary", "identity"])
    func unregisteredTokenIsNoCoding(token: String) async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .json(#"{"a":1}"#).header(.contentEncoding, token))
            let network = try NetworkLayer(to: origin.baseURL)
            let raw = try await network.call(Fetch<GET>("a"))
            #expect(raw.text == #"{"a":1}"# && raw.response.headerFields[.contentEncoding] == token)
            #expect(try await network.stream(Fetch<GET>("a")).body.text() == #"{"a":1}"#)
        }
    }

    @Test(.except(.urlSession, "the system undoes all codings of a response or none"))
    func codingBesideAnUnregisteredTokenIsUndone() async throws {
        let raw = try await respond(to: .bytes(Coded.gzip).header(.contentEncoding, "gzip,aws-chunked"))
        #expect(raw.bytes == Array(Coded.text.utf8))
        #expect(raw.response.headerFields[.contentEncoding] == "aws-chunked")
    }

    @Test(.except(.urlSession, "the system undoes all codings of a response or none"))
    func codingsBelowAnUnknownOneStayNamed() async throws {
        let outer = try await failure(of: .bytes(Coded.gzip).header(.contentEncoding, "gzip, compress, gzip"))
        let raw = try #require(outer.rawData)
        #expect(raw.text == Coded.text)
        #expect(raw.response.headerFields[.contentEncoding] == "gzip, compress")
        let inner = try await failure(of: .bytes(Coded.gzip).header(.contentEncoding, "gzip, compress"))
        let coded = try #require(inner.rawData)
        #expect(inner.detail.contains("\"gzip, compress\"") && coded.bytes == Coded.gzip)
        #expect(coded.response.headerFields[.contentEncoding] == "gzip, compress")
    }

    @Test func allKnownCodingsOfABodyAreUndone() async throws {
        var coded = Coded.deflate
        for _ in 0..<2 { coded = try await Tool.run("/bin/sh", ["-c", "gzip -c"], coded) }
        let raw = try await respond(to: .bytes(coded).header(.contentEncoding, "deflate, gzip, x-gzip"))
        #expect(raw.text == Coded.text)
        #expect(raw.response.headerFields[.contentEncoding] == nil)
    }

    @Test(.except(.urlSession, "the system decides how many codings are too many"))
    func bodyWithTooManyCodingsIsNotRead() async throws {
        let names = Array(repeating: "gzip", count: 6).joined(separator: ", ")
        let error = try await failure(of: .bytes(Coded.gzip).header(.contentEncoding, names))
        #expect(error.kind == .invalidResponse && error.detail.contains("more than 5 content codings"), "\(error)")
    }

    @Test func wronglyDeclaredCodingFails() async throws {
        let error = try await failure(of: .text("not gzip at all").header(.contentEncoding, "gzip"))
        #expect(error.kind == .invalidResponse)
    }

    @Test(
        .except(.urlSession, "the system decides what is broken"),
        arguments: [
            Array(Coded.gzip.dropLast(9)), Array(Coded.gzip.prefix(3)), Array("not gzip at all".utf8), Coded.rawDeflate,
        ])
    func brokenCodingsFailAsInvalidResponses(body: [UInt8]) async throws {
        let error = try await failure(of: .bytes(body).header(.contentEncoding, "gzip"))
        #expect(error.kind == .invalidResponse)
        #expect(error.detail.contains("The compressed body of the response of 127.0.0.1:"))
    }

    @Test func responseWithoutABodyMayNameACoding() async throws {
        try await withScriptedOrigin { origin in
            let empty = ScriptedResponse.bytes(Coded.gzip).header(.contentEncoding, "gzip")
            origin.on(.head, "/a", respond: empty)
            origin.on(.get, "/none", respond: .status(.noContent).header(.contentEncoding, "gzip"))
            origin.on(.get, "/same", respond: .status(.notModified).header(.contentEncoding, "gzip"))
            origin.on(.get, "/zero", respond: .status(.ok).header(.contentEncoding, "gzip"))
            let network = try NetworkLayer(to: origin.baseURL)
            #expect(try await network.call(Fetch<HEAD>("a")).bytes.isEmpty)
            #expect(try await network.call(Fetch<GET>("none")).bytes.isEmpty)
            let conditional = Fetch<GET>("same", headers: ["If-None-Match": "\"a\""])
            #expect(try await network.call(conditional).bytes.isEmpty)
            #expect(try await network.call(Fetch<GET>("zero")).bytes.isEmpty)
        }
    }
}
