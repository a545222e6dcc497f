import Foundation
import Testing

@testable import RunwayBundles

/// A store on a file system that is really full, which `Scripts/full-disk.sh` mounts.
@Suite(
    .enabled(if: ProcessInfo.processInfo.environment["RUNWAY_SMALL_DISKS"] != nil, "Scripts/full-disk.sh mounts it"),
    .timeLimit(.minutes(5)))
struct BundlesFullDiskTests {
    private let disk = URL(filePath: ProcessInfo.processInfo.environment["RUNWAY_SMALL_DISKS"] ?? "")
        .appending(path: "bundles")
    private var ballast: URL { disk.appending(path: "ballast") }

    /// Takes all space but some.
    private func fill(leaving byteCount: Int) throws {
        try Data().write(to: ballast)
        let handle = try FileHandle(forWritingTo: ballast)
        while (try? handle.write(contentsOf: Data(count: 4_096))) != nil {}
        try handle.truncate(atOffset: UInt64(max(0, Int(try handle.seekToEnd()) - byteCount)))
        try handle.close()
    }

    /// The version of the running bundle, all of whose files are whole.
    private func version(_ bundle: RunningBundle) throws -> Int64 {
        for path in bundle.paths where path != "film" {
            #expect(try bundle.text(path)?.hasPrefix("version \(bundle.id.version)") == true)
        }
        return bundle.id.version
    }

    @Test func diskFullAtAnyWriteStopsNothing() async throws {
        try await BundleScene.run(disk: disk) { scene in
            func publish(_ version: Int64) throws {
                var files = ["film": String(repeating: "\(version) ", count: 150_000)]
                for number in 0..<4 { files["page-\(number)"] = "version \(version) of page \(number)" }
                try scene.publish(version, files)
            }
            try publish(2)
            try await scene.runNewest()
            var (failed, installed) = (0, 0)
            // One more page of the disk is free each time, and later so many that the large file fits, too.
            for pages in Array(0..<24) + stride(from: 80, to: 120, by: 3) {
                let former = try version(try await scene.store().running)
                try await scene.runNewest()
                try publish(former + 1)
                try fill(leaving: pages * 4_096)
                let outcome = try await scene.store().check()
                #expect([.failed, .installed].contains(outcome.kind), "\(outcome)")
                if outcome.kind == .failed { failed += 1 } else { installed += 1 }
                // A launch that can't be counted runs what has been ready.
                let running = try version(try await scene.store().running)
                #expect(running == former || outcome.kind == .installed && running == former + 1)
                try FileManager.default.removeItem(at: ballast)
                try await scene.runNewest()
                #expect(try version(try await scene.store().running) == former + 1)
                try await scene.runNewest()
            }
            #expect(failed > 20 && installed > 0)
        }
    }
}
