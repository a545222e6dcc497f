import Dispatch
import NIOCore
import NIOPosix
import Runway
import RunwayTestServer
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayTransport

/// The TLS of a transport: made once, before anybody asks for it, and in nobody's way.
@Suite(.timeLimit(.minutes(10)))
struct TLSPreparationTests {
    private let certificate: TestCertificate
    private let policy: TLSPolicy
    private let loopback: IPAddress

    init() throws {
        loopback = try #require(IPAddress("127.0.0.1"))
        certificate = try TestCertificate(for: dialHost)
        let trust = TrustPolicy(roots: .certificates(pem: [certificate.certificatePEM]))
        policy = try TLSPolicy(TrustMaterial(trust), applicationProtocols: ["http/1.1"])
    }

    /// Makes a policy, which takes until it is released on.
    private final class Making: Sendable {
        let count = AwaitedValue(0)
        private let gate = DispatchSemaphore(value: 0)
        private let result: Result<TLSPolicy, any Error>

        init(_ result: Result<TLSPolicy, any Error>) { self.result = result }

        func make() throws -> TLSPolicy {
            count.update { $0 += 1 }
            gate.wait()
            return try result.get()
        }

        func proceed() { gate.signal() }
    }

    private struct Unmakeable: Error {}

    /// Loops of their own for those who ask.
    private let loops = (0..<3).map { _ in MultiThreadedEventLoopGroup.singleton.next() }

    @Test func preparationBlocksNoThread() async throws {
        let making = Making(.success(policy))
        defer { making.proceed() }
        // This returns, and what is made is not.
        let preparation = TLSPreparation(making: making.make)
        try await making.count.wait(atLeast: 1, within: .seconds(60), subject: "the making")
        let isThere = Mutex(false)
        let response = preparation.policy(on: loops[0])
        response.whenComplete { _ in isThere.withLock { $0 = true } }
        try await loops[0].submit {}.get()
        #expect(!isThere.withLock { $0 })
        making.proceed()
        _ = try await response.get()
    }

    @Test func allCallersGetOnePolicyOnTheirLoop() async throws {
        let making = Making(.success(policy))
        defer { making.proceed() }
        let preparation = TLSPreparation(making: making.make)
        let early = loops.map { preparation.policy(on: $0) }
        making.proceed()
        for (response, loop) in zip(early, loops) {
            _ = try await response.get()
            #expect(response.eventLoop === loop)
        }
        for loop in loops {
            let response = preparation.policy(on: loop)
            #expect(response.eventLoop === loop)
            _ = try await response.get()
        }
        #expect(making.count.value == 1)
    }

    @Test func aFailedPreparationIsReportedToAllCallers() async throws {
        let making = Making(.failure(Unmakeable()))
        defer { making.proceed() }
        let preparation = TLSPreparation(making: making.make)
        let early = loops.map { preparation.policy(on: $0) }
        making.proceed()
        for response in early { await #expect(throws: Unmakeable.self) { _ = try await response.get() } }
        await #expect(throws: Unmakeable.self) { _ = try await preparation.policy(on: loops[0]).get() }
        #expect(making.count.value == 1)
    }

    @Test func failedPreparationIsNoFaultOfTheAddress() async throws {
        let mistake = NetworkError(.invalidConfiguration, in: .transporting, "TLS can't be set up.")
        let preparation = TLSPreparation { throw mistake }
        let test = try TestDialer(resolved: ["127.0.0.1"], certificate: certificate, tls: preparation)
        try await withScriptedOrigin(tls: certificate.tls) { origin in
            let transport = NIOTransport(
                configuration: TransportConfiguration(connectTimeout: .seconds(300)), dialer: test.dialer)
            let layer = NetworkLayer(to: "https://\(dialHost):\(origin.port)", over: transport)
            let error = try await layer.failure(of: Fetch<GET>("a"))
            #expect(error.kind == .invalidConfiguration && error.sending == .notSent)
            #expect(error.detail == "TLS can't be set up.")
            #expect(origin.requestCount == 0)
            #expect(test.dialer.selector.ban(of: loopback, of: dialHost) == nil)
        }
    }

    @Test func unaskableNameIsNoFaultOfTheAddress() async throws {
        let name = String(repeating: "a", count: 256)
        let test = try TestDialer(resolved: ["127.0.0.1"], certificate: certificate)
        try await withScriptedOrigin { origin in
            let dial = test.dialer.start(
                Origin(scheme: "https", host: name, port: origin.port), on: loops[0],
                deadline: NIODeadline.now() + .seconds(60))
            let error = try await #require(throws: DialError.self) { _ = try await dial.connection.get() }
            #expect(error.failures.count == 1)
            #expect(test.dialer.selector.ban(of: loopback, of: name) == nil)
        }
    }

    @Test func probeBlamesNoAddressForImpossibleTLS() async throws {
        let preparation = TLSPreparation { throw Unmakeable() }
        let test = try TestDialer(resolved: ["127.0.0.1"], certificate: certificate, tls: preparation)
        try await withScriptedOrigin { origin in
            let report = try await HostProbe(test.dialer, timeout: .seconds(60)).run(dialHost, port: origin.port)
            #expect(report.entries.map(\.address) == [loopback] && report.entries.first?.failure != nil)
            #expect(test.dialer.selector.ban(of: loopback, of: dialHost) == nil)
        }
    }

    @Test func tcpConnectsDuringThePreparation() async throws {
        let making = Making(.success(policy))
        defer { making.proceed() }
        let preparation = TLSPreparation(making: making.make)
        let test = try TestDialer(resolved: ["127.0.0.1"], certificate: certificate, tls: preparation)
        try await withScriptedOrigin { plain in
            try await test.dial(port: plain.port, scheme: "http").close()
        }
        try await withScriptedOrigin(tls: certificate.tls) { origin in
            let dial = test.start(port: origin.port)
            try await origin.waitForConnections(count: 1)
            making.proceed()
            let connection = try await dial.connection.get()
            #expect(connection.applicationProtocol == "http/1.1")
            try await connection.close()
        }
    }
}
