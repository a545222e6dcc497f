import Foundation
import HTTPTypes
import Testing

@testable import RunwaySignatures

/// The examples of RFC 9530 appendices B to D, and what is refused.
struct BodyDigestTests {
    private static let hello = #"{"hello": "world"}"#
    @Test(arguments: [
        // Appendix D.
        (hello, "sha-256", "X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE="),
        (hello, "sha-512", "WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew=="),
        // Appendices B.1, B.2, B.3, B.7, B.8, B.10 and C.2.
        (hello + "\n", "sha-256", "RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg="),
        (
            hello + "\n", "sha-512",
            "YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg=="
        ),
        ("", "sha-256", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
        (#""world"}"# + "\n", "sha-256", "jjcgBDWNAtbYUXI37CVG3gRuGOAjaaDRGpIUFsdyepQ="),
        (#"{"title": "New Title"}"# + "\n", "sha-256", "mEkdbO7Srd9LIOegftO0aBX+VPTVz7/CSHes2Z27gc4="),
        (
            "{\n  \"id\": \"123\",\n  \"title\": \"New Title\"\n}\n", "sha-256",
            "uVSlinTTdQUwm2On4k8TJUikGN1bf/Ds8WPX4oe0h9I="
        ),
        (
            "{\n  \"status\": \"created\",\n  \"id\": \"123\",\n  \"ts\": 1569327729,\n  \"instance\": \"/books/123\"\n}\n",
            "sha-256",
            "yXIGDTN5VrfoyisKlXgRKUHHMs35SNtyC3szSz1dbO8="
        ),
        (
            "{\n  \"title\": \"Not Found\",\n  \"detail\": \"Cannot PATCH a non-existent resource\",\n  \"status\": 404\n}\n",
            "sha-256", "EXB0S2VF2H7ijkAVJkH1Sm0pBho0iDZcvVUHHXTTZSA="
        ),
    ])
    func examplesOfTheRFCAreReproduced(_ body: String, _ algorithm: String, _ digest: String) throws {
        let algorithm = try #require(DigestAlgorithm.named(algorithm))
        #expect(BodyDigest(of: Array(body.utf8), by: [algorithm]).fieldValue == "\(algorithm)=:\(digest):")
    }

    @Test func severalDigestsAreReadAndWritten() throws {
        // Appendix B.6. The body that it prints has other digests; these are of the one in erratum 8890, in Brotli.
        let text = unwrapped(
            #"""
            sha-256=:d435Qo+nKZ+gLcUHn7GQtQ72hiBVAgqoLsZnZPiTGPk=:,\
              sha-512=:db7fdBbgZMgX1Wb2MjA8zZj+rSNgfmDCEEXM8qLWfpfoNY0sCpHAzZbj\
              09X1/7HAb7Od5Qfto4QpuBsFbUO3dQ==:
            """#)
        let claimed = try BodyDigest(.representationDigest, in: [.representationDigest: text])
        #expect(claimed.algorithms == [.sha256, .sha512])
        #expect(claimed.fieldValue == text.replacing(":,", with: ":, "))
        let coded = [0x0B, 0x09, 0x80] + Array("\(Self.hello)\n".utf8) + [0x03]
        try claimed.verify(BodyDigest(of: coded, by: [.sha256, .sha512]))
        let body = Array(Self.hello.utf8)
        let both = BodyDigest(of: body, by: [.sha256, .sha512])
        try both.verify(both)
        #expect(throws: SignatureError.self) { try both.verify(BodyDigest(of: body, by: [.sha256])) }
    }

    @Test func aBodyIsDigestedInParts() throws {
        let body = Array(Self.hello.utf8)
        var digester = BodyDigester([.sha256, .sha512])
        for byte in body { digester.update([byte]) }
        #expect(digester.finish() == BodyDigest(of: body, by: [.sha256, .sha512]))
        try BodyDigest(.contentDigest, in: [.contentDigest: ExampleTexts.digest]).verify(digester.finish())
        digester.update([0])
        #expect(throws: SignatureError(.mismatchedDigest, "the body's digest")) {
            try BodyDigest(.contentDigest, in: [.contentDigest: ExampleTexts.digest]).verify(digester.finish())
        }
    }

    @Test func allKindsOfBytesHaveOneDigest() {
        let body = (0..<10_000).map { UInt8(truncatingIfNeeded: $0) }
        let expected = BodyDigest(of: body)
        #expect(BodyDigest(of: Data(body)) == expected)
        #expect(BodyDigest(of: body[...]) == expected)
        #expect(body.withUnsafeBytes { BodyDigest(of: $0) } == expected)
        var digester = BodyDigester()
        digester.update(body[..<10])
        digester.update(Data(body[10..<5_000]))
        body[5_000...].withUnsafeBytes { digester.update($0) }
        #expect(digester.finish() == expected)
        #expect(digester.finish() == expected, "The digester is the same after it")
    }

    @Test func onlyDeprecatedAlgorithmsAreNoDigest() throws {
        let fields: HTTPFields = [.contentDigest: "md5=:Sd/dVLAcvNLSq16eXua5uQ==:, unixsum=:GQU=:"]
        #expect(throws: SignatureError(.unknownDigest, "content-digest")) { try BodyDigest(.contentDigest, in: fields) }
        #expect(throws: SignatureError(.missing, "repr-digest")) { try BodyDigest(.representationDigest, in: fields) }
        let both: HTTPFields = [.contentDigest: "md5=:AA==:, sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"]
        #expect(try BodyDigest(.contentDigest, in: both).algorithms == [.sha256])
    }

    @Test(arguments: [
        "sha-256=:AA==:", "sha-256=AA", "sha-256", "sha-256=:A:", "sha-256=(:AA==:)", "sha-256=::", "=",
        // Unused bits of the last digit that are not zero.
        "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=:",
        // Appendices B.5, B.6, B.11 and C.1 print one padding character too many.
        "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg==:",
        "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:, sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:",
    ])
    func malformedDigestsAreRefused(_ value: String) {
        #expect(throws: SignatureError.self) { try BodyDigest(.contentDigest, in: [.contentDigest: value]) }
    }

    @Test(arguments: [
        ("sha-256=3, sha=10", ["sha-256"]), ("sha=10", []), ("sha-256=1, sha-512=2", ["sha-512", "sha-256"]),
        ("sha-512=0, sha-256=10", ["sha-256"]), ("", []),
    ])
    func preferencesAreSorted(_ value: String, _ expected: [String]) throws {
        let fields: HTTPFields = [.wantContentDigest: value]
        #expect(try fields.wantedDigests(.wantContentDigest).map(\.name) == expected)
    }

    @Test(arguments: ["sha-256=11", "sha-256=-1", "sha-256=1.5", "sha-256", "sha-256=(1)"])
    func malformedPreferencesAreRefused(_ value: String) {
        let fields: HTTPFields = [.wantRepresentationDigest: value]
        #expect(throws: SignatureError.self) { try fields.wantedDigests(.wantRepresentationDigest) }
    }
}
