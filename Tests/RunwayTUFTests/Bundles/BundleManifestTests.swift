import Testing

@testable import RunwayTUF

struct BundleManifestTests {
    private func problem(_ paths: String...) -> String? { BundlePath.problem(in: paths) }

    @Test(arguments: [
        "", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/./b", "a\\b", "C:a", "a\u{0}b", "a\nb", "a\u{7F}",
        String(repeating: "a", count: 256), String(repeating: "é", count: 128), "../\u{301}a", "a/../\u{301}b",
        "a/\u{301}/../../b", "a//\u{301}b", "a\u{85}b", "a\u{200C}b", "a\u{FEFF}", "a\u{202E}b", "a\u{FE0F}",
    ])
    func pathsOutsideABundleAreRefused(_ path: String) { #expect(problem(path) != nil) }

    @Test(arguments: [
        "a", "a/b.html", "é/ü", "..a", "a..", ".well-known/x", String(repeating: "a", count: 255),
        String(repeating: "é", count: 127) + "a", "商店/页.html", "🛒/a",
    ])
    func ordinaryPathsAreAccepted(_ path: String) { #expect(problem(path) == nil) }

    @Test(arguments: [
        ("a", "a"), ("a", "A"), ("e\u{301}", "\u{E9}"), ("E\u{301}", "\u{E9}"), ("ß", "SS"), ("a", "a/b"),
        ("A", "a/b"), ("\u{212A}", "k"), ("a/b/c", "a/B"),
        ("ς", "σ"), ("\u{1E9E}", "ss"), ("\u{1E9E}", "ß"), ("ﬁ", "FI"), ("\u{1F80}", "\u{1F00}\u{345}"),
        ("각", "\u{1100}\u{1161}\u{11A8}"),
        ("a", "a/\u{301}b"), ("İ", "i\u{307}"),
    ])
    func collisionsAreRefused(_ one: String, _ other: String) {
        #expect(problem(one, other) != nil)
        #expect(problem(other, one) != nil)
    }

    @Test func manifestsAreReadAsTheyAreWritten() throws {
        let files = (0..<10_000).map {
            let digest = Hexadecimal.sha256(Array("\($0)".utf8))
            return BundleManifest.File(path: "\($0 % 7)/\($0)", length: Int64($0), sha256: digest)
        }
        let manifest = try BundleManifest(version: 3, files: files)
        let read = try BundleManifest(reading: manifest.bytes)
        #expect(read.version == 3 && read.files == manifest.files && read.bytes == manifest.bytes)
        #expect(try BundleManifest(reading: BundleManifest(version: 1, files: []).bytes).files.isEmpty)
        #expect(throws: MalformedMetadata("too many files")) {
            try BundleManifest(version: 1, files: Array(repeating: files[0], count: BundleManifest.maximumFiles + 1))
        }
    }

    @Test func oneDigestHasOneLength() throws {
        let one = BundleManifest.File(path: "a", length: 1, sha256: String(repeating: "ab", count: 32))
        let same = BundleManifest.File(path: "b", length: 1, sha256: one.sha256)
        let other = BundleManifest.File(path: "b", length: 2, sha256: one.sha256)
        #expect(try BundleManifest(version: 1, files: [one, same]).files.count == 2)
        #expect(throws: MalformedMetadata.self) { try BundleManifest(version: 1, files: [one, other]) }
    }

    @Test(arguments: [
        #"{"files":{"a":{"length":1,"sha256":"00"}},"format":1,"version":1}"#, #"{"files":{},"format":2,"version":1}"#,
        #"{"files":{},"format":1,"version":0}"#, #"{"files":[],"format":1,"version":1}"#, "[]",
        #"{"files":{"../a":{"length":1,"sha256":"\#(String(repeating: "0", count: 64))"}},"format":1,"version":1}"#,
        #"{"files":{"a":{"length":-1,"sha256":"\#(String(repeating: "0", count: 64))"}},"format":1,"version":1}"#,
    ])
    func malformedManifestsAreRefused(_ text: String) {
        #expect(throws: MalformedMetadata.self) { try BundleManifest(reading: Array(text.utf8)) }
    }

    @Test func namesOfTargetsStayInTheirFolder() {
        #expect(BundleTarget(bundle: "shop", channel: "beta", runtime: "1.2")?.path == "shop/beta/1.2/manifest.json")
        for name in ["", ".", "..", "a/b", ".a", "a b", "é", String(repeating: "a", count: 65)] {
            #expect(BundleTarget(bundle: name, channel: "a", runtime: "1") == nil)
        }
    }
}
