import NIOCore
import Runway
import RunwayTesting
import Testing

@testable import RunwayTestServer
@testable import RunwayTransport

/// Several addresses of one host, over real sockets.
@Suite(.timeLimit(.minutes(10)))
struct AddressChoiceTests {
    private let four = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"]

    private func set(_ network: BadNetwork, _ roundTrips: [Int]) async throws {
        for (path, time) in zip(network.paths, roundTrips) {
            try await path.set(.passing(PathConditions(roundTrip: .milliseconds(time))))
        }
    }

    @Test func theBestIsChosenWithinTheFirstLaunch() async throws {
        let certificate = try TestCertificate(for: dialHost)
        try await withBadNetwork(4, certificate) { network, origin in
            try await set(network, [900, 600, 20, 1200])
            try await untilUndisturbed {
                let test = try TestDialer(listed: four, certificate: certificate)
                // Every dial looks at one more beside the first; so four know them all.
                for _ in 0..<4 { try await test.dial(port: network.port).close() }
                guard try test.knowsAsNearest("127.0.0.4", of: four) else { return false }
                let connection = try await test.dial(port: network.port)
                let hasLost = connection.report?.hasLost
                try await connection.close()
                // Whatever address was dialled, the host's name was sent and verified.
                #expect(connection.wire.dns == nil && connection.wire.tlsVersion == "TLSv1.3")
                guard try test.knowsAsNearest("127.0.0.4", of: four) else { return false }
                #expect(connection.wire.dialed.first?.address == "127.0.0.4")
                // Another one wins if the machine stands still for longer than a dial waits for the first.
                return connection.ip == "127.0.0.4" && hasLost == false
            }
            #expect(origin.malformedRequests.isEmpty)
        }
    }

    @Test func aProbeMeasuresAllAtOnce() async throws {
        let certificate = try TestCertificate(for: dialHost)
        let roundTrips = ["127.0.0.2": 750, "127.0.0.4": 1500, "127.0.0.5": 15]
        try await withBadNetwork(4, certificate) { network, _ in
            try await set(network, [750, 0, 1500, 15])
            try await network.paths[1].set(.refusing)
            try await untilUndisturbed {
                let test = try TestDialer(listed: four, resolved: ["127.0.0.5"], certificate: certificate)
                let report = try await HostProbe(test.dialer, timeout: .seconds(30)).run(dialHost, port: network.port)
                #expect(report.entries.map(\.source) == [.listed, .listed, .listed, .listed])
                #expect(report.dns != nil)
                let failed = try #require(report.entries.last)
                #expect("\(failed.address)" == "127.0.0.3" && failed.total == nil)
                #expect(failed.failure?.contains("Connection refused") == true)
                let measured = report.entries.dropLast()
                for entry in measured {
                    let roundTrip = Duration.milliseconds(try #require(roundTrips["\(entry.address)"]))
                    let tls = try #require(entry.tls)
                    #expect(tls >= roundTrip && entry.tlsVersion == "TLSv1.3")
                }
                let totals = measured.compactMap(\.total)
                #expect(totals.count == 3 && totals == totals.sorted())

                guard try test.knowsAsNearest("127.0.0.5", of: four) else { return false }
                let connection = try await test.dial(port: network.port)
                try await connection.close()
                #expect(connection.wire.dialed.first?.address == "127.0.0.5")
                return connection.ip == "127.0.0.5"
                    && measured.map { "\($0.address)" } == ["127.0.0.5", "127.0.0.2", "127.0.0.4"]
            }
        }
    }

    @Test func aProbeSaysThatNobodyKnowsTheName() async throws {
        let test = try TestDialer(listed: ["127.0.0.2"])
        try await withBadNetwork(1, test.certificate) { network, _ in
            let report = try await HostProbe(test.dialer, timeout: .seconds(60)).run(dialHost, port: network.port)
            #expect(report.dnsFailure == "The name could not be looked up: nobody knows it.")
            #expect(report.entries[0].failure == nil)
        }
    }

    @Test func probeOnASlowNetworkBansNoAddress() async throws {
        let test = try TestDialer(listed: ["127.0.0.2", "127.0.0.3"])
        try await withBadNetwork(2, test.certificate) { network, _ in
            // One leads to a connection at once and is never done with TLS; the other leads nowhere.
            try await network.paths[0].set(.passing(PathConditions(roundTrip: .seconds(3600))))
            try await network.paths[1].set(.silent)
            let report = try await HostProbe(test.dialer, timeout: .milliseconds(200)).run(
                dialHost, port: network.port)
            #expect(report.entries.count == 2 && report.entries.allSatisfy { $0.failure != nil })
            for entry in report.entries {
                #expect(test.dialer.selector.ban(of: entry.address, of: dialHost) == nil)
            }
        }
    }

    @Test func probeOfSilentAddressesEndsInTime() async throws {
        let test = try TestDialer(listed: ["127.0.0.2"])
        try await withBadNetwork(1, test.certificate) { network, _ in
            try await network.paths[0].set(.silent)
            let probe = HostProbe(test.dialer, timeout: .milliseconds(50))
            let report = try await probe.run(dialHost, port: network.port)
            #expect(report.entries[0].failure == "No connection was made in time.")
            #expect(report.entries[0].tcp == nil)

            let patient = HostProbe(test.dialer, timeout: .seconds(60))
            let running = Task { try await patient.run(dialHost, port: network.port) }
            running.cancel()
            let error = await #expect(throws: NetworkError.self) { try await running.value }
            #expect(error?.kind == .cancelled)
        }
    }

    @Test func aSilentAddressDelaysOnlyTheFirstDial() async throws {
        let certificate = try TestCertificate(for: dialHost)
        try await withBadNetwork(4, certificate) { network, _ in
            try await untilUndisturbed {
                let test = try TestDialer(
                    listed: four, certificate: certificate, limits: HostSelectionLimits(firstBan: .seconds(600)))
                try await network.paths[0].set(.silent)
                try await test.dial(port: network.port).close()
                // Another one was dialled beside it and won; that it is silent is known a little later.
                let silent = try #require(IPAddress("127.0.0.2"))
                try await waitUntil("the ban") { test.book?.selector.ban(of: silent, of: dialHost) != nil }
                // While it is banned nobody comes back to it, which would show now, nor looks at it beside another; only where all
                // the others are slow, as on a machine that is busy, is it tried at last.
                try await network.paths[0].set(.passing(PathConditions()))
                var isLast = true
                for _ in 0..<5 {
                    let connection = try await test.dial(port: network.port)
                    try await connection.close()
                    let place = connection.wire.dialed.firstIndex { $0.address == "127.0.0.2" }
                    #expect(place != 0)
                    // Others are banned as well if the machine stood still for as long as they were measured.
                    if let place, place < 3 { isLast = false }
                }
                return isLast
            }
        }
    }

    @Test func aSlowAddressIsReplacedWithinThreeDials() async throws {
        let certificate = try TestCertificate(for: dialHost)
        let addresses = ["127.0.0.2", "127.0.0.3"]
        try await withBadNetwork(2, certificate) { network, _ in
            try await untilUndisturbed {
                let test = try TestDialer(listed: addresses, certificate: certificate)
                try await set(network, [5, 60])
                for _ in 0..<3 { try await test.dial(port: network.port).close() }
                try await set(network, [8000, 60])
                for _ in 0..<3 { try await test.dial(port: network.port).close() }
                // That holds before the first of the slow connections is made.
                guard try test.knowsAsNearest("127.0.0.3", by: 1.2, of: addresses) else { return false }
                let connection = try await test.dial(port: network.port)
                try await connection.close()
                guard try test.knowsAsNearest("127.0.0.3", by: 1.2, of: addresses) else { return false }
                #expect(connection.wire.dialed.first?.address == "127.0.0.3")
                return connection.ip == "127.0.0.3"
            }
        }
    }

    @Test func slowResponsesReplaceAnOpenConnection() async throws {
        let test = try TestDialer(listed: ["127.0.0.2", "127.0.0.3"])
        try await withBadNetwork(2, test.certificate) { network, _ in
            for _ in 0..<3 { try await test.dial(port: network.port).close() }
            let connection = try await test.dial(port: network.port)
            let report = try #require(connection.report)
            // The other one works, whatever the machine did meanwhile.
            let other = connection.ip == "127.0.0.2" ? "127.0.0.3" : "127.0.0.2"
            test.dialer.selector.note(
                .dialed(roundTrip: .milliseconds(5)), of: try #require(IPAddress(other)), of: dialHost)
            for _ in 0..<10 { report.responded(after: .milliseconds(30)) }
            // Far beyond what a busy machine can take for the dials.
            for _ in 0..<3 { report.responded(after: .seconds(300)) }
            #expect(report.hasLost)
            try await connection.close()
        }
    }

    @Test func deadListedAddressesFallBackToTheLookup() async throws {
        let test = try TestDialer(listed: ["127.0.0.2", "127.0.0.3"], resolved: ["127.0.0.4"])
        try await withBadNetwork(3, test.certificate) { network, _ in
            try await network.paths[0].set(.silent)
            try await network.paths[1].set(.refusing)
            let connection = try await test.dial(port: network.port)
            #expect(connection.ip == "127.0.0.4")
            #expect(connection.wire.dns != nil)
            try await connection.close()
        }
    }

    @Test func aListNeedsNoResolver() async throws {
        let test = try TestDialer(listed: ["127.0.0.2", "127.0.0.3"])
        try await withBadNetwork(2, test.certificate) { network, _ in
            try await network.paths[0].set(.refusing)
            let connection = try await test.dial(port: network.port)
            #expect(connection.ip == "127.0.0.3")
            try await connection.close()
        }
    }

    @Test func anAddressOfAnotherHostIsSkipped() async throws {
        let test = try TestDialer(listed: ["127.0.0.2", "127.0.0.3"])
        try await withScriptedOrigin(tls: TestCertificate(for: dialHost).tls) { impostor in
            try await withBadNetwork(2, test.certificate) { network, _ in
                try await network.paths[0].set(.refusing)
                let wrong = try NetworkPath(
                    at: "127.0.0.2", port: network.port,
                    to: try SocketAddress(ipAddress: "127.0.0.1", port: impostor.port), seed: 1)
                try await wrong.listen()
                let connection = try await test.dial(port: network.port)
                #expect(connection.ip == "127.0.0.3")
                #expect(impostor.requestCount == 0)
                try await connection.close()
                await wrong.shutDown()
            }
        }
    }

    @Test func aListDoesNotApplyToPlainHTTP() async throws {
        let test = try TestDialer(listed: ["127.0.0.2"], resolved: ["127.0.0.1"])
        try await withScriptedOrigin { origin in
            let connection = try await test.dial(port: origin.port, scheme: "http")
            #expect(connection.ip == "127.0.0.1")
            try await connection.close()
        }
    }
}
