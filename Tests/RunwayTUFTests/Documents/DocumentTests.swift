import RunwaySignatures
import Testing

@testable import RunwayTUF

struct DocumentTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29T23:59:59Z", 951_868_799), ("2030-01-01T00:00:00Z", 1_893_456_000),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] as [(String, Int64)])
    func timesAreRead(_ text: String, _ seconds: Int64) {
        #expect(UnixTime(metadata: text) == UnixTime(seconds: seconds))
        #expect(UnixTime(seconds: seconds).metadataText == text)
    }

    @Test(arguments: [
        "2030-02-29T00:00:00Z", "2030-13-01T00:00:00Z", "2030-00-01T00:00:00Z", "2030-01-01T24:00:00Z",
        "2030-01-01T00:00:60Z", "2030-01-01 00:00:00Z", "2030-01-01T00:00:00+01:00", "2030-01-01T00:00:00.0Z",
        "1969-12-31T00:00:00Z", "", "٢٠٣٠-01-01T00:00:00Z",
    ])
    func otherTimesAreRefused(_ text: String) { #expect(UnixTime(metadata: text) == nil) }

    @Test func otherSpecificationsAreRefused() throws {
        for (version, isAccepted) in [
            ("1.0.31", true), ("1.0", true), ("2.0.0", false), ("1", false), ("10.0.0", false),
            ("1.0.x", false), ("1.", false), ("1.0.0.0", false), ("1.-1", false), ("1.2.3", true),
        ] {
            let signed: CanonicalObject = [
                "_type": "snapshot", "spec_version": .string(version), "version": .integer(1),
                "expires": .string(TestRepository.later), "meta": .object([:]),
            ]
            let document = SignedDocument(signed: signed, signatures: [])
            #expect(((try? Metadata<SnapshotContent>(document)) != nil) == isAccepted, "\(version)")
        }
    }

    @Test func unknownMembersArePreserved() throws {
        let text = #"{"signatures":[],"signed":{"x-new":{"b":1,"a":[]},"_type":"targets"},"x-outer":1}"#
        let document = try SignedDocument(Array(text.utf8), maximumByteCount: 1_000)
        #expect(document.bytes.elementsEqual(text.utf8))
        #expect(document.signedBytes.elementsEqual(#"{"_type":"targets","x-new":{"a":[],"b":1}}"#.utf8))
    }

    @Test func manyHashesAreRefused() throws {
        for (count, isAccepted) in [(16, true), (17, false)] {
            var hashes: CanonicalObject = ["sha256": "00"]
            for number in 1..<count { hashes["x\(number)"] = "00" }
            let object: CanonicalObject = ["length": .integer(1), "hashes": .object(hashes)]
            #expect(((try? FileDigest(object, isRequired: true)) != nil) == isAccepted)
        }
    }

    @Test func duplicateSignaturesAreRefused() {
        let text = #"{"signatures":[{"keyid":"a","sig":""},{"keyid":"a","sig":"00"}],"signed":{}}"#
        #expect(throws: MalformedMetadata.self) { try SignedDocument(Array(text.utf8), maximumByteCount: 1_000) }
    }

    @Test(arguments: [
        ("targets/*.tgz", "targets/foo.tgz", true), ("targets/*.tgz", "targets/foo.txt", false),
        ("foo-version-?.tgz", "foo-version-a.tgz", true), ("foo-version-?.tgz", "foo-version-alpha.tgz", false),
        ("*.tgz", "foo.tgz", true), ("*.tgz", "targets/foo.tgz", false), ("foo.tgz", "foo.tgz", true),
        ("*/*", "a/b", true), ("*/*", "a/b/c", false), ("*", "", true), ("?", "", false), ("?", "/", false),
        ("a*b*c", "a-b-b-c", true), ("a*b*c", "a-b-b", false), ("[a-c]x", "bx", true), ("[!a-c]x", "bx", false),
        ("[!a-c]", "/", false), ("[]]", "]", true), ("[a", "[a", true), ("*/a", "b/c/a", false), ("", "", true),
        ("*a/*b", "xa/yb", true), ("*a/*b", "xa/y", false), ("é", "e\u{301}", false),
    ])
    func wildcardsMatchWithinAFolder(_ pattern: String, _ path: String, _ isMatch: Bool) {
        #expect(PathPattern(pattern).matches(path) == isMatch)
    }

    @Test func patternsAreLinear() {
        let pattern = PathPattern(String(repeating: "a*", count: 200) + "b")
        #expect(!pattern.matches(String(repeating: "a", count: 2_000)))
    }

    @Test func namesStayInTheFolder() {
        #expect(MetadataName.file(of: "../é/..", version: 3) == "3...%2F%C3%A9%2F...json")
        #expect(MetadataName.file(of: "a%2F") == "a%252F.json")
    }

    @Test(arguments: [
        #"{"name":"Root","paths":["*"]}"#, #"{"name":"","paths":["*"]}"#, #"{"name":"a"}"#,
        #"{"name":"a","paths":["*"],"path_hash_prefixes":["0"]}"#, #"{"name":"a","paths":[1]}"#,
        #"{"name":"a","paths":["*"],"terminating":1}"#,
    ])
    func invalidDelegationsAreRefused(_ text: String) throws {
        guard case .object(var object) = try CanonicalValue(reading: Array(text.utf8), maximumByteCount: 1_000) else {
            return
        }
        object["keyids"] = .array([])
        object["threshold"] = .integer(1)
        #expect(throws: MalformedMetadata.self) { try Delegation(object) }
    }
}
