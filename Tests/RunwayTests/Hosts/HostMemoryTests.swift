import Foundation
import RunwayTesting
import Testing

@testable import Runway

/// What is remembered between launches of the addresses of hosts.
@Suite(.timeLimit(.minutes(10)))
struct HostMemoryTests {
    private static let start = Date(timeIntervalSince1970: 1_700_000_000)
    private let host = "api.example.com"
    private let near = IPAddress("203.0.113.1") ?? IPAddress(v4: 0)
    private let far = IPAddress("203.0.113.2") ?? IPAddress(v4: 0)
    private let clock = ManualClock()
    private let status = SettableNetworkStatus(NetworkStatus(.wifi, identity: "10.0.0.1 on en0"))

    private func withFile(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("runway-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder + "/measurements.json")
    }

    /// A book of a launch so many days after the first.
    private func book(_ path: String, after days: Double = 0) -> HostBook {
        HostBook(
            measurements: path, status: status,
            clock: LayerClock(clock) { Self.start.addingTimeInterval(days * 86_400) })
    }

    private func measure(_ book: HostBook) async {
        book.selector.note(.dialed(roundTrip: .milliseconds(20)), of: near, of: host)
        book.selector.note(.dialed(roundTrip: .milliseconds(90)), of: far, of: host)
        await book.selector.storeMeasurements()
    }

    private func order(_ book: HostBook) -> [IPAddress] { book.selector.plan([far, near], of: host).order }

    @Test func laterLaunchOrdersByStoredMeasurements() async throws {
        try await withFile { path in
            await measure(book(path))
            let next = book(path, after: 2)
            #expect(order(next) == [near, far])
            #expect(next.latency(of: near, of: host) == .milliseconds(20))
            #expect(next.selector.isMeasured(near, of: host, within: .seconds(3 * 86_400)))
            #expect(!next.selector.isMeasured(near, of: host, within: .seconds(86_400)))
            #expect(next.measurementsError == nil)
        }
    }

    @Test func firstMeasurementReplacesStoredLatency() async throws {
        try await withFile { path in
            await measure(book(path))
            let next = book(path)
            next.selector.note(.dialed(roundTrip: .milliseconds(200)), of: near, of: host)
            #expect(next.latency(of: near, of: host) == .milliseconds(200))
            #expect(order(next) == [far, near])
        }
    }

    @Test(arguments: [
        NetworkStatus(.wifi, identity: "10.0.0.1 on en1"), NetworkStatus(.wired, identity: "10.0.0.1 on en0"), .wifi,
        .unknown, NetworkStatus(.cellular, identity: "10.0.0.1 on en0", generation: 4),
    ])
    func otherNetworksHaveNoneOfThem(_ other: NetworkStatus) async throws {
        try await withFile { path in
            await measure(book(path))
            status.set(other)
            #expect(order(book(path)) == [far, near])
        }
    }

    @Test func generationsOfCellularAreStoredApart() async throws {
        try await withFile { path in
            status.set(NetworkStatus(.cellular, identity: "pdp_ip0", generation: 5))
            await measure(book(path))
            #expect(order(book(path)) == [near, far])
            status.set(NetworkStatus(.cellular, identity: "pdp_ip0", generation: 4))
            #expect(order(book(path)) == [far, near])
        }
    }

    @Test func networkWithoutIdentityIsNotStored() async throws {
        try await withFile { path in
            status.set(.wifi)
            await measure(book(path))
            #expect(order(book(path)) == [far, near])
        }
    }

    @Test func fileIsPrivateAndNamesNoNetwork() async throws {
        try await withFile { path in
            await measure(book(path))
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(text.contains("203.0.113.1"))
            #expect(!text.contains("10.0.0.1") && !text.contains("en0") && !text.contains("wifi"))
            // The same network has another name in another file.
            let (one, other) = (HostMeasurements(), HostMeasurements())
            let key = NetworkKey(status.current)
            #expect(one.name(of: key) == one.name(of: key) && one.name(of: key) != other.name(of: key))
        }
    }

    @Test func failedAddressIsForgotten() async throws {
        try await withFile { path in
            let book = book(path)
            await measure(book)
            book.selector.note(.failed, of: near, of: host)
            await book.selector.storeMeasurements()
            let next = self.book(path)
            #expect(next.latency(of: near, of: host) == nil)
            #expect(order(next) == [far, near])
        }
    }

    @Test func oldMeasurementsAreDropped() async throws {
        try await withFile { path in
            await measure(book(path))
            #expect(book(path, after: 29).latency(of: near, of: host) != nil)
            #expect(book(path, after: 31).latency(of: near, of: host) == nil)
        }
    }

    @Test func newestMeasurementsStay() throws {
        var measurements = HostMeasurements()
        let network = try #require(measurements.name(of: NetworkKey(status.current)))
        for number in 0..<(HostMeasurements.maximumCount + 5) {
            measurements.insert(
                .init(latency: 0.1, date: Double(number)),
                for: .init(network: network, host: host, address: IPAddress(v4: UInt32(number))))
        }
        #expect(measurements.measurements.count == HostMeasurements.maximumCount)
        #expect(measurements.measurements.values.map(\.date).min() == 5)
        // A file of the largest size is read again.
        #expect(measurements.json.count <= HostMeasurements.maximumByteCount)
        #expect(HostMeasurements(json: measurements.json)?.measurements == measurements.measurements)
    }

    @Test(arguments: [
        "", "{}", "not JSON", #"{"version":2,"salt":"00000000000000000000000000000000","measurements":[]}"#,
        #"{"version":1,"salt":"short","measurements":[]}"#,
        #"{"version":1,"salt":"00000000000000000000000000000000","measurements":[{}]}"#,
        #"""
        {"version":1,"salt":"00000000000000000000000000000000","measurements":[{"network":"00000000000000000000000000000000",
        "host":"api.example.com","address":"203.0.113.1","latency":-1,"date":1700000000}]}
        """#,
    ])
    func malformedFileIsReportedAndReplaced(_ text: String) async throws {
        try await withFile { path in
            #expect(
                FileManager.default.createFile(
                    atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]))
            let book = book(path)
            #expect(book.measurementsError?.kind == .storage)
            #expect(order(book) == [far, near])
            await measure(book)
            let next = self.book(path)
            #expect(next.measurementsError == nil)
            #expect(order(next) == [near, far])
        }
    }

    @Test func fileOpenToOthersIsNotTrusted() async throws {
        try await withFile { path in
            await measure(book(path))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            let book = book(path)
            #expect(book.measurementsError?.detail.contains("open to others") == true)
            #expect(order(book) == [far, near])
        }
    }

    @Test func failureToStoreIsReported() async throws {
        try await withFile { path in
            let book = book(path + "/missing/file")
            await measure(book)
            #expect(book.measurementsError?.kind == .storage)
            // The launch itself uses what it measured.
            #expect(order(book) == [near, far])
        }
    }

    @Test func changesAreStoredTogetherAfterAPause() async throws {
        try await withFile { path in
            let book = book(path)
            book.selector.note(.dialed(roundTrip: .milliseconds(20)), of: near, of: host)
            book.selector.note(.dialed(roundTrip: .milliseconds(90)), of: far, of: host)
            try await clock.waitForSleepers()
            #expect(clock.sleeperCount == 1)
            #expect(!FileManager.default.fileExists(atPath: path))
            clock.advance(by: HostMemory.pause)
            try await waitUntil("the file is written") { FileManager.default.fileExists(atPath: path) }
            #expect(order(self.book(path)) == [near, far])
        }
    }

    @Test func waitForNetworkEndsWhenItIsKnown() async throws {
        try await withFile { path in
            status.set(.unknown)
            let selector = book(path).selector
            let waiting = Task { await selector.waitForNetwork(atMost: .seconds(1)) }
            try await clock.waitForSleepers()
            status.set(.wifi)
            await waiting.value
            status.set(.unknown)
            let patient = Task { await selector.waitForNetwork(atMost: .seconds(1)) }
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(1))
            await patient.value
        }
    }
}
