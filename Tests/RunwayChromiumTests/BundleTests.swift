import Foundation
import RunwayBridge
import RunwayChromium
import Testing

/// Pages of a bundle have an origin of their own, and what it was granted.
@Suite(.enabled(if: SharedBrowser.isInstalled))
struct BundleTests {
    private static let files = [
        "index.html":
            "<!doctype html><title>Help</title><script src='app.js'></script><script>globalThis.inline = 1</script>",
        "app.js": "globalThis.isLoaded = true", "data.txt": "0123456789",
    ]

    private static let position = DeviceFunctions.Position(latitude: 52.5, longitude: 13.25, accuracy: 10)

    private func visiting(_ run: (Visit) async throws -> Void) async throws {
        let picture = Command(bytes: "picture") { (_: NoValue, _) in Data(repeating: 7, count: 1000) }
        let device = DeviceFunctions.fake(location: .success(Self.position))
        let bundle = Capability(.bundle("help"), commands: [.echo, picture, device.location])
        try await Visit(
            commands: [.echo, device.location], others: [bundle],
            bundles: [BundleFiles("help") { Self.files[$0].map { Data($0.utf8) } }]
        ).run(run)
    }

    @Test func aBundleHasTheRightsOfItsOrigin() async throws {
        try await visiting { (visit) async throws in
            try await visit.page.load("runway-bundle://help/")
            #expect(try await visit.value(of: "globalThis.isLoaded") == "true")
            #expect(try await visit.page.evaluate("isSecureContext && origin.startsWith('https://')") == "true")
            #expect(try await visit.page.evaluate("runway.call('echo', { text: 'a' })") == #"{"text":"a!"}"#)
            #expect(try await visit.page.evaluate("runway.call('device.location').then(p => p.longitude)") == "13.25")
            let bytes = try await visit.page.evaluate("runway.call('picture').then(bytes => bytes.byteLength)")
            #expect(bytes == "1000")
            #expect(try await visit.records.first(3).map(\.origin).allSatisfy { $0 == "runway-bundle://help" })
        }
    }

    @Test func remotePagesMayNotUseTheDevice() async throws {
        try await visiting { (visit) async throws in
            #expect(try await visit.kind(of: "runway.call('device.location')") == #""notEmbedded""#)
            #expect(try await visit.records.first(1).map(\.isRefusal) == [true])
        }
    }

    @Test func aBundleLoadsOnlyItsOwnFiles() async throws {
        try await visiting { (visit) async throws in
            try await visit.page.load("runway-bundle://help/")
            #expect(try await visit.value(of: "globalThis.isLoaded") == "true")
            #expect(try await visit.page.evaluate("typeof inline") == #""undefined""#)
            let part =
                "fetch('data.txt', { headers: { Range: 'bytes=2-4' } }).then(async r => [r.status, await r.text()])"
            #expect(try await visit.page.evaluate(part) == #"[206,"234"]"#)
            let statuses =
                "Promise.all(['/absent', '/%2e%2e/x', '/.git/config'].map(p => fetch(p).then(r => r.status)))"
            #expect(try await visit.page.evaluate(statuses) == "[404,404,404]")
            let elsewhere = "fetch('\(visit.home)/').then(() => 'loaded', () => 'refused')"
            #expect(try await visit.page.evaluate(elsewhere) == #""refused""#)
            let frame = """
                new Promise(done => {
                  const frame = document.createElement('iframe')
                  frame.src = '/'
                  frame.onload = () => done(frame.contentDocument === null)
                  document.body.append(frame)
                })
                """
            #expect(try await visit.page.evaluate(frame) == "true")
        }
    }

    @Test(arguments: [
        ("https://a.help.runway-bundle.invalid/", "opaqueOrigin"),
        ("https://other.runway-bundle.invalid/", "notGranted"),
    ]) func otherHostsAreNoBundle(address: String, kind: String) async throws {
        try await visiting { (visit) async throws in
            try await visit.page.load(address)
            #expect(try await visit.kind(of: "runway.call('echo', { text: '' })") == "\"\(kind)\"")
        }
    }
}
