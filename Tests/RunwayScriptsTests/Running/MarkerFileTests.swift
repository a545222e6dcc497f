import Foundation
import Testing

@testable import RunwayScripts

struct MarkerFileTests {
    private let identity = ScriptIdentity(bundle: "shop@1", runtime: "1", build: "412")

    #if os(Linux) || os(macOS)
        @Test func markerSurvivesKill() async throws {
            let folder = try MarkerFolder()
            let path = folder.marker.path
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
                let file = try MarkerFile(URL(filePath: path))
                let identity = ScriptIdentity(bundle: "shop@1", runtime: "1", build: "412")
                file.run(try #require(try file.register(identity)))
                kill(getpid(), SIGKILL)
            }
            let file = try MarkerFile(folder.marker)
            let error = #expect(throws: ScriptError.self) { try file.register(identity) }
            #expect(error?.kind == .condemned)
            for other in [
                ScriptIdentity(bundle: "shop@2", runtime: "1", build: "412"),
                ScriptIdentity(bundle: "shop@1", runtime: "2", build: "412"),
                ScriptIdentity(bundle: "shop@1", runtime: "1", build: "413"),
            ] { #expect(try file.register(other) != nil) }
        }
    #endif

    @Test func condemnedBundleIsRememberedInTheFile() throws {
        let folder = try MarkerFolder()
        do {
            let file = try MarkerFile(folder.marker)
            file.condemn(try #require(try file.register(identity)))
            #expect(throws: ScriptError.self) { try file.register(identity) }
        }
        let file = try MarkerFile(folder.marker)
        #expect(throws: ScriptError.self) { try file.register(identity) }
    }

    @Test func fileBelongsToOneRuntime() throws {
        let folder = try MarkerFolder()
        do {
            let file = try MarkerFile(folder.marker)
            withExtendedLifetime(file) {
                let error = #expect(throws: ScriptError.self) { try MarkerFile(folder.marker) }
                #expect(error?.kind == .markerInUse)
            }
        }
        #expect(throws: Never.self) { try MarkerFile(folder.marker) }
    }

    @Test func unusableFileIsAnError() throws {
        let folder = try MarkerFolder()
        let link = folder.marker.appendingPathExtension("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.marker)
        for place in [link, folder.marker.deletingLastPathComponent(), folder.marker.appending(path: "below")] {
            let error = #expect(throws: ScriptError.self) { try MarkerFile(place) }
            #expect(error?.kind == .markerUnusable)
        }
    }

    @Test func partsOfAnIdentityAreDistinct() {
        let other = ScriptIdentity(bundle: "shop@", runtime: "11", build: "412")
        #expect(identity.digest.count == 32 && identity.digest != other.digest)
    }
}
