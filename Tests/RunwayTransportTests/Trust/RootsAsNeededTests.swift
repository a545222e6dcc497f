import Crypto
import Foundation
import NIOCore
import NIOSSL
import RunwayTestServer
import RunwayTesting
import Synchronization
import Testing
import X509

@testable import Runway
@testable import RunwayTransport

/// Roots that are read from a folder when a server needs them, and all roots where that was not enough.
@Suite(.timeLimit(.minutes(10)))
struct RootsAsNeededTests {
    private let certificate: TestCertificate
    private let other: TestCertificate
    private let loopback: IPAddress

    init() throws {
        certificate = try TestCertificate(for: dialHost)
        other = try TestCertificate(for: dialHost)
        loopback = try #require(IPAddress("127.0.0.1"))
    }

    /// Runs `body` with a preparation that reads roots from a folder.
    ///
    /// - Parameters:
    ///   - stored: The root in the folder.
    ///   - all: The root that is trusted once all roots are read; `nil` if they can't be read.
    private func withPreparation(
        folder stored: String, all: String?, _ body: (TestDialer, _ allCount: () -> Int) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("roots-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(stored.utf8).write(to: folder.appendingPathComponent(nameHash(of: dialHost) + ".0"))
        let system = try TrustMaterial(TrustPolicy())
        let own = try all.map { try TrustMaterial(TrustPolicy(roots: .certificates(pem: [$0]))) }
        let count = Counter()
        let preparation = TLSPreparation(
            making: { try TLSPolicy(system, applicationProtocols: ["http/1.1"], rootsFrom: folder.path) },
            withAllRoots: {
                count.value.withLock { $0 += 1 }
                guard let own else { throw Unreadable() }
                return try TLSPolicy(own, applicationProtocols: ["http/1.1"])
            })
        try await body(TestDialer(resolved: ["127.0.0.1"], tls: preparation)) { count.value.withLock { $0 } }
    }

    private struct Unreadable: Error {}

    private final class Counter: Sendable {
        let value = Mutex(0)
    }

    /// The name of a file by which OpenSSL finds the certificate of a common name: the hash of its canonical form.
    private func nameHash(of commonName: String) -> String {
        let value = [0x0C, UInt8(commonName.utf8.count)] + Array(commonName.utf8)
        let attribute: [UInt8] = [0x06, 0x03, 0x55, 0x04, 0x03] + value
        let sequence = [0x30, UInt8(attribute.count)] + attribute
        let digest = Array(Insecure.SHA1.hash(data: [0x31, UInt8(sequence.count)] + sequence))
        return digest.prefix(4).reversed().map { String(format: "%02x", $0) }.joined()
    }

    @Test func onlyTheServersRootIsRead() async throws {
        try await withPreparation(folder: certificate.certificatePEM, all: other.certificatePEM) { test, allCount in
            try await withScriptedOrigin(tls: certificate.tls) { origin in
                try await test.dial(port: origin.port).close()
                #expect(origin.connectionCount == 1)
            }
            #expect(allCount() == 0)
        }
    }

    @Test func missingRootIsRetriedWithAllRoots() async throws {
        try await withPreparation(folder: other.certificatePEM, all: certificate.certificatePEM) { test, allCount in
            try await withScriptedOrigin(tls: certificate.tls) { origin in
                try await test.dial(port: origin.port).close()
                #expect(origin.connectionCount == 2)
                // From now on there are no others.
                try await test.dial(port: origin.port).close()
                #expect(origin.connectionCount == 3)
            }
            #expect(allCount() == 1)
            #expect(test.dialer.selector.ban(of: loopback, of: dialHost) == nil)
        }
    }

    @Test func serverWithoutARootIsRefusedOnce() async throws {
        let stranger = try TestCertificate(for: dialHost)
        try await withPreparation(folder: other.certificatePEM, all: certificate.certificatePEM) { test, allCount in
            try await withScriptedOrigin(tls: stranger.tls) { origin in
                let error = try await test.failure(port: origin.port)
                #expect(error.kind == .notTrusted && error.sending == .notSent)
                #expect(origin.connectionCount == 2 && origin.requestCount == 0)
            }
            #expect(allCount() == 1)
        }
    }

    @Test func failedReadOfAllRootsLeavesTheFolders() async throws {
        try await withPreparation(folder: certificate.certificatePEM, all: nil) { test, allCount in
            for count in 1...2 {
                try await withScriptedOrigin(tls: other.tls) { origin in
                    let error = try await test.failure(port: origin.port)
                    #expect(error.kind == .notTrusted && error.sending == .notSent)
                    #expect(origin.connectionCount == 2 && origin.requestCount == 0)
                }
                #expect(allCount() == count)
                try await withScriptedOrigin(tls: certificate.tls) { origin in
                    try await test.dial(port: origin.port).close()
                    #expect(origin.connectionCount == 1)
                }
            }
        }
    }

    @Test func certificateWithAnotherNameIsRefusedAtOnce() async throws {
        let root = try TestAuthority(dialHost)
        let server = try root.server(names: [.dnsName("other.test")])
        let tls = try TLSConfiguration.makeOriginConfiguration(
            certificateChainPEM: Array(server.chainPEM.utf8), privateKeyPEM: Array(server.keyPEM.utf8))
        try await withPreparation(folder: root.pem, all: root.pem) { test, allCount in
            try await withScriptedOrigin(tls: tls) { origin in
                let error = try await test.failure(port: origin.port)
                #expect(error.kind == .notTrusted)
                #expect(origin.connectionCount == 1 && origin.requestCount == 0)
            }
            #expect(allCount() == 0)
        }
    }

    @Test func dialIsCancelledWhileAllRootsAreRead() async throws {
        let gate = DispatchSemaphore(value: 0)
        let isReading = AwaitedValue(0)
        defer { gate.signal() }
        let own = try TrustMaterial(TrustPolicy(roots: .certificates(pem: [other.certificatePEM])))
        let preparation = TLSPreparation(
            making: { try TLSPolicy(own, applicationProtocols: ["http/1.1"], rootsFrom: "/nowhere") },
            withAllRoots: {
                isReading.update { $0 += 1 }
                gate.wait()
                return try TLSPolicy(own, applicationProtocols: ["http/1.1"])
            })
        let test = try TestDialer(resolved: ["127.0.0.1"], tls: preparation)
        try await withScriptedOrigin(tls: certificate.tls) { origin in
            let dial = test.start(port: origin.port)
            try await isReading.wait(atLeast: 1, within: .seconds(60), subject: "all roots")
            dial.cancel()
            await #expect(throws: DialError.self) { _ = try await dial.connection.get() }
        }
    }
}
