import Foundation
import HTTPTypes
import Runway
import RunwayBridge
import RunwayBundleRepository
import RunwaySignatures
import RunwayTUF
import RunwayTestServer
import RunwayTesting
import Testing

@testable import RunwayBundles

/// Devices that install from a repository over HTTP.
struct BundleStoreTests {
    private let second = ["index.html": "<p>2", "same.css": "p {}", "new name.txt": "unchanged bytes"]

    @Test func aPublishedVersionRunsAtTheNextLaunch() async throws {
        try await BundleScene.run { scene in
            try scene.publish(2, second)
            var store: BundleStore? = try await scene.store()
            #expect(try store?.running.text("index.html") == "<p>1")
            #expect(await store?.check().kind == .installed)
            #expect(try store?.running.text("index.html") == "<p>1")
            #expect(store?.status.next?.version == 2)
            store = nil
            let next = try await scene.store()
            #expect(next.running.id.version == 2)
            #expect(next.running.paths == second.keys.sorted())
            for (path, text) in second { #expect(try next.running.text(path) == text) }
            #expect(try next.running.read("old name.txt") == nil)
            #expect(try next.running.read("../state.json") == nil)
            #expect(scene.takeKinds() == [.launched, .downloading, .installed, .launched])
        }
    }

    @Test func onlyNewBytesAreDownloaded() async throws {
        try await BundleScene.run { scene in
            try scene.publish(2, second)
            let store = try await scene.store()
            #expect(await store.check().kind == .installed)
            // The others are in the embedded copy, one of them under another name.
            #expect(scene.takeFileRequests().count == 1)
            #expect(await store.check().kind == .nothingNew)
            #expect(scene.takeRequests() == ["/metadata/2.root.json", "/metadata/timestamp.json"])
            try store.ready(store.launch().id)
            try scene.publish(3, second.merging(["index.html": "<p>3"]) { $1 })
            #expect(await store.check().kind == .installed)
            let requests = scene.takeRequests()
            #expect(requests.filter { !$0.hasPrefix("/metadata/") }.count == 2)
            try scene.publish(4, second.merging(["index.html": "<p>2"]) { $1 })
            #expect(await store.check().kind == .installed)
            #expect(scene.takeFileRequests().isEmpty)
        }
    }

    @Test func theDeviceComesBackByItself() async throws {
        try await BundleScene.run { scene in
            try scene.publish(2, second)
            try await scene.runNewest()
            try scene.publish(3, ["index.html": "broken"])
            _ = try await scene.store().check()
            _ = scene.takeKinds()
            for _ in 0..<2 { #expect(try await scene.store().running.text("index.html") == "broken") }
            #expect(try await scene.store().running.text("index.html") == "<p>2")
            #expect(scene.takeKinds() == [.launched, .launched, .condemned, .rolledBack, .launched])
            let store = try await scene.store()
            #expect(await store.check().kind == .condemnedBefore)
            // The server's way back is a newer version with older files, which are here.
            try scene.repository.rollBack(BundleScene.target(), to: 2, as: 4, scene.keys, at: BundleScene.now)
            _ = scene.takeRequests()
            #expect(await store.check().kind == .installed)
            #expect(scene.takeFileRequests().isEmpty)
            #expect(try store.launch().text("index.html") == "<p>2")
            #expect(store.running.id.version == 4)
        }
    }

    @Test func theKillSwitchEndsAtTheEmbeddedCopy() async throws {
        try await BundleScene.run { scene in
            try scene.publish(2, second)
            try await scene.runNewest()
            try scene.change(isStopped: true)
            let store = try await scene.store()
            #expect(store.running.id.version == 2)
            #expect(await store.check().kind == .stopped)
            #expect(store.status.isStopped)
            #expect(store.launch().id == BundleID(embedded: 1))
            try scene.change(isStopped: false)
            #expect(await store.check().kind == .nothingNew)
            #expect(store.launch().id.version == 2)
            try store.switchOff()
            #expect(store.launch().id.isEmbedded)
        }
        try await BundleScene.run { scene in
            var store: BundleStore? = try await scene.store()
            try store?.switchOff()
            store = nil
            try scene.publish(2, second)
            #expect(try await scene.store().check().kind == .switchedOff)
        }
    }

    @Test func damagedFilesAreNeverServed() async throws {
        try await BundleScene.run { scene in
            try scene.publish(2, second)
            try await scene.runNewest()
            try Data("<p>X".utf8).write(to: scene.file("<p>2"))
            var store: BundleStore? = try await scene.store()
            // Files without damage are served.
            #expect(try store?.running.text("same.css") == "p {}")
            #expect(throws: BundleError.self) { try store?.running.read("index.html") }
            #expect(store?.launch().id == BundleID(embedded: 1))
            // The version is installed again, for the bytes of the damaged file.
            _ = scene.takeRequests()
            #expect(await store?.check().kind == .installed)
            #expect(scene.takeFileRequests() == ["/files/\(scene.file("<p>2").lastPathComponent)"])
            store = nil
            #expect(try await scene.store().running.text("index.html") == "<p>2")
        }
    }

    @Test(arguments: ["", "{}", "{\"device\":1}"])
    func unreadableStatesStartAnew(_ text: String) async throws {
        try await BundleScene.run { scene in
            try scene.publish(2, second)
            try await scene.runNewest()
            try Data(text.utf8).write(to: scene.device.appending(path: "state.json"))
            _ = scene.takeKinds()
            let store = try await scene.store()
            #expect(store.running.id.isEmbedded)
            #expect(scene.takeKinds() == [.unreadable, .launched])
            #expect(scene.names(in: "").contains("state.json.unreadable"))
            // Its files are here.
            _ = scene.takeRequests()
            #expect(await store.check().kind == .installed)
            #expect(scene.takeFileRequests().isEmpty)
            #expect(store.launch().id.version == 2)
        }
    }

    @Test func expiryStopsOnlyNewInstallations() async throws {
        try await BundleScene.run { scene in
            try scene.publish(2, second)
            try await scene.runNewest()
            try scene.publish(3, second)
            for clock in [BundleScene.now.seconds + 40 * 86_400, 4_070_908_800] {
                scene.setClock(clock)
                let store = try await scene.store()
                #expect(store.running.id.version == 2)
                #expect(await store.check().refusal?.rule == .expiry)
                try store.ready(store.running.id)
            }
            // A clock that was far ahead has left nothing behind, and one at 1970 revives nothing.
            scene.setClock(0)
            #expect(try await scene.store().check().kind == .installed)
            #expect(try await scene.store().running.id.version == 3)
        }
    }

    @Test func otherBytesThanListedAreRefused() async throws {
        try await BundleScene.run { scene in
            try scene.publish(2, second)
            let digest = scene.file("<p>2").lastPathComponent
            scene.setFault(digest) { ScriptedResponse(headerFields: $0.headerFields, chunks: [Array("<p>X".utf8)]) }
            var store: BundleStore? = try await scene.store()
            let outcome = await store?.check()
            #expect(outcome?.refusal?.rule == .mixAndMatch && outcome?.refusal?.role == "index.html")
            scene.setFault(digest) { ScriptedResponse(headerFields: $0.headerFields, chunks: $0.chunks + [[0]]) }
            #expect(await store?.check().refusal?.rule == .length)
            scene.setFault(digest) { _ in ScriptedResponse(status: .notFound) }
            #expect(await store?.check().refusal?.rule == .absence)
            #expect(store?.launch().id.isEmbedded == true)
            scene.setFault(digest, nil)
            #expect(await store?.check().kind == .installed)
            store = nil
            #expect(try await scene.store().running.id.version == 2)
        }
    }

    @Test func largeFilesContinueWhereTheyEnded() async throws {
        try await BundleScene.run { scene in
            let film = String(repeating: "a film ", count: 100_000)
            try scene.publish(2, ["film.mp4": film])
            let digest = scene.file(film).lastPathComponent
            scene.setFault(digest) { $0.cut(after: .bodyBytes(400_000)) }
            let store = try await scene.store()
            #expect(await store.check().kind == .installed)
            let requests = scene.takeFileRequests()
            #expect(requests.count == 2 && requests.last?.contains("bytes=") == true)
            #expect(try store.launch().text("film.mp4") == film)
            // Other bytes of the same length are refused, and not continued with.
            let other = film.replacing("film", with: "cake")
            try scene.publish(3, ["film.mp4": other])
            let name = scene.file(other).lastPathComponent
            scene.setFault(name) { ScriptedResponse(headerFields: $0.headerFields, chunks: [Array(film.utf8)]) }
            #expect(await store.check().refusal?.rule == .mixAndMatch)
            scene.setFault(name, nil)
            #expect(await store.check().kind == .installed)
            #expect(try store.launch().text("film.mp4") == other)
        }
    }

    @Test func expensiveNetworksWaitForOthers() async throws {
        let clock = ManualClock()
        try await BundleScene.run(clock: clock) { scene in
            scene.status.set(.cellular)
            var options = BundleOptions()
            options.maximumExpensiveByteCount = 3
            try scene.publish(2, second)
            let store = try await scene.store(options: options)
            let running = Task { await store.run() }
            try await waitUntil("a check has ended") { store.status.lastCheck != nil }
            #expect(store.status.lastOutcome?.kind == .waiting)
            #expect(scene.takeFileRequests().isEmpty)
            let limit = clock.now.advanced(by: .seconds(25))
            scene.status.set(.wifi)
            try await waitUntil("the version is installed") {
                store.status.next != nil
            } meanwhile: {
                // Not as far as the timer.
                clock.advanceToSleeper(until: limit)
            }
            running.cancel()
            await running.value
            // Metadata, and what is small enough, is for every network.
            scene.status.set(.cellular)
            options.maximumExpensiveByteCount = 4
            try scene.publish(3, second.merging(["index.html": "<p>3"]) { $1 })
            #expect(await store.check().kind == .waiting)
            // The manifest is not requested again.
            _ = scene.takeRequests()
            #expect(await store.check().kind == .waiting)
            #expect(scene.takeRequests().allSatisfy { $0.hasPrefix("/metadata/") })
        }
    }

    @Test func checksFollowTimersAndPokes() async throws {
        let clock = ManualClock()
        try await BundleScene.run(clock: clock) { scene in
            let store = try await scene.store()
            let running = Task { await store.run() }
            func waitForCheck(until limit: ManualClock.Instant) async throws {
                try await waitUntil("another check ends") {
                    !scene.takeKinds().isEmpty
                } meanwhile: {
                    clock.advanceToSleeper(until: limit)
                }
            }
            let start = clock.now
            try await waitForCheck(until: start)
            store.poke()
            // The timer does not run out.
            try await waitForCheck(until: start.advanced(by: .seconds(25)))
            try await waitForCheck(until: start.advanced(by: .seconds(4_200)))
            #expect(start.duration(to: clock.now) >= .seconds(3_240))
            running.cancel()
            await running.value
        }
    }

    @Test func releasesAreForChosenDevicesAndApps() async throws {
        try await BundleScene.run { scene in
            try scene.publish(2, second, share: 0)
            let store = try await scene.store()
            #expect(await store.check().kind == .notIncluded)
            try scene.change(share: 10_000)
            #expect(await store.check().kind == .installed)
            try scene.publish(3, second, floor: 2)
            #expect(await store.check().kind == .embeddedTooOld)
        }
    }

    @Test func otherChannelsAndNewerAppsStartAnew() async throws {
        try await BundleScene.run { scene in
            try scene.publish(2, second)
            try await scene.runNewest()
            _ = scene.takeKinds()
            #expect(try await scene.store(embedded: 2).running.id == BundleID(embedded: 2))
            #expect(scene.takeKinds() == [.superseded, .launched])
            try scene.publish(3, second)
            try await scene.runNewest()
            let beta = try await scene.store(channel: "beta")
            #expect(await beta.check().kind == .notPublished)
            #expect(beta.running.id.isEmbedded)
            #expect(scene.names(in: "files").isEmpty)
        }
    }

    @Test func theDiskHasThreeVersionsAtMost() async throws {
        try await BundleScene.run { scene in
            for version in Int64(2)...6 {
                try scene.publish(version, ["index.html": "<p>\(version)"])
                try await scene.runNewest()
            }
            let store = try await scene.store()
            #expect(await store.check().kind == .nothingNew)
            #expect(scene.names(in: "manifests").count == 2 && scene.names(in: "files").count == 2)
            #expect(scene.names(in: "incoming").isEmpty)
            // A running bundle stays whole while its successors come and go.
            let old = store.running
            for version in Int64(7)...9 {
                try scene.publish(version, ["index.html": "<p>\(version)"])
                #expect(await store.check().kind == .installed)
                try store.ready(store.launch().id)
            }
            #expect(try old.text("index.html") == "<p>6")
        }
    }

    @Test func oneStoreHasTheFolder() async throws {
        try await BundleScene.run { scene in
            let store = try await scene.store()
            #expect(throws: BundleError.self) { _ = try BundleFolder(scene.device) }
            withExtendedLifetime(store) {}
        }
    }

    @Test func pagesOfABundleAreServed() async throws {
        try await BundleScene.run { scene in
            try scene.publish(2, second)
            try await scene.runNewest()
            let bundle = try await scene.store().running
            let bridge = Bridge(capabilities: [], bundles: [BundleFiles("shop") { try bundle.read($0) }])
            let response = bridge.response(to: "GET", of: "runway-bundle://shop/", range: "bytes=1-2")
            #expect(response.status == 206 && Array(response.body) == Array("p>".utf8))
            #expect(response.headerFields["Content-Type"] == "text/html; charset=utf-8")
            #expect(response.headerFields["Content-Security-Policy"]?.hasPrefix("default-src 'none'") == true)
            #expect(bridge.response(to: "GET", of: "runway-bundle://shop/none.txt", range: nil).status == 404)
        }
    }
}
