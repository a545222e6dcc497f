import Foundation
import HTTPTypes
import Runway
import RunwayTesting
import Testing

@testable import RunwayStorage

/// An opt-out has the server erase what it got while nobody was signed in.
@Suite(.timeLimit(.minutes(10)))
struct AnonymousErasureTests {
    @Test func optingOutErasesTheRecordsOfNobody() async throws {
        let fixture = LogFixture()
        let log = fixture.open()
        try await log.record("a").committed()
        await log.flush()
        try await log.setOptedOut(true)
        try await waitUntil("the erasure") { fixture.server.erasures == [""] }
        try await waitUntil("its end") { await log.currentState.pendingErasureCount == 0 }
        let secret = try #require(fixture.server.secrets.first.flatMap { InstallationSecret($0) })
        // Later records have the same installation, and only a new opt-out is about them.
        try await log.setOptedOut(false)
        try await log.record("b").committed()
        await log.flush()
        #expect(fixture.server.names == ["a", "b"] && fixture.server.secrets.count == 1)
        #expect(Set(fixture.server.batches.map(\.installation)) == [secret.installation.text])
        await log.close()
    }

    @Test func erasureOfNobodySurvivesARestart() async throws {
        let isDown = Flag(true)
        let fixture = LogFixture(LogServer { batch, _ in batch.number == 0 && isDown.isOn ? .status(500) : nil })
        var log = fixture.open()
        try await log.record("a").committed()
        await log.flush()
        fixture.status.set(.none)
        try await log.setOptedOut(true)
        try await log.setOptedOut(false)
        try await log.record("later").committed()
        await log.close()

        fixture.signIn("ada")
        log = fixture.open()
        try await log.record("of ada").committed()
        fixture.status.set(.wifi)
        await log.flush()
        try await waitUntil("the record of the account") { fixture.server.names == ["a", "of ada"] }
        #expect(await log.currentState.pendingErasureCount == 1)
        isDown.isOn = false
        try await fixture.drain(log, upTo: 3)
        #expect(fixture.server.names == ["a", "of ada", "later"] && fixture.server.erasures == [""])
        #expect(await log.currentState.pendingErasureCount == 0)
        await log.close()
    }

    @Test func optOutWithoutErasureSendsNoSecret() async throws {
        let fixture = LogFixture()
        let log = fixture.open()
        try await log.record("a").committed()
        await log.flush()
        try await log.setOptedOut(true, erasingAtServer: false)
        #expect(await log.currentState.pendingErasureCount == 0)
        await log.flush()
        #expect(fixture.server.secrets.isEmpty)
        await log.close()
    }

    @Test(arguments: [401, 403, 404]) func serverWithoutTheRouteIsNotAskedForever(status: Int) async throws {
        let fixture = LogFixture(LogServer { batch, _ in batch.number == 0 ? .status(status) : nil })
        let log = fixture.open()
        try await log.record("a").committed()
        await log.flush()
        try await log.setOptedOut(true)
        try await log.setOptedOut(false)
        try await log.record("later").committed()
        try await fixture.drain(log, upTo: 2)
        #expect(fixture.server.secrets.count == 5)
        let state = await log.currentState
        #expect(state.pendingErasureCount == 0 && state.refusedErasures == ["": "status \(status)"])
        await log.close()
    }

    @Test func noRecordOfACallHasTheSecret() async throws {
        let (server, folder, records) = (LogServer(), ScratchFolder(), RecordCollector())
        let network = NetworkLayer(
            transport: server, pipeline: .tested, sinks: [records], redaction: Redaction(recordsBodies: true),
            limits: LayerLimits(admission: .none, retrying: .none))
        let log = ActionLog(at: folder.file, sendingTo: LogService.self, at: "log", over: network)
        try await log.record("a").committed()
        await log.flush()
        try await log.setOptedOut(true)
        let attempts = try await records.records(count: 2).filter { $0.endpoint == "AnonymousErasure" }
            .flatMap(\.attempts)
        let (attempt, secret) = (try #require(attempts.first), try #require(server.secrets.first))
        #expect(attempt.url == "https://log.example.com/log/erasure" && attempt.headerFields[.authorization] == nil)
        let body = String(decoding: try #require(attempt.requestBody), as: UTF8.self)
        #expect(body.contains("[redacted]") && !"\(body)\(attempt)\(attempt.curlCommand)".contains(secret))
        await log.close()
        withExtendedLifetime(folder) {}
    }

    @Test func erasureCarriesATokenOnlyWhereRequired() {
        enum Guarded: APIService {
            static let environments: [ServiceEnvironment: String] = [:]
            static let authorization = AuthorizationPolicy.required
        }
        enum Open: APIService {
            static let environments: [ServiceEnvironment: String] = [:]
            static let authorization = AuthorizationPolicy.ifSignedIn
        }
        #expect(AnonymousErasure<Guarded>.authorization == .required)
        #expect(AnonymousErasure<Open>.authorization == .none)
    }
}
