import Crypto
import Foundation
import HTTPTypes
import Runway
import RunwaySignatures
import RunwaySigning
import RunwayTesting
import RunwayTransport
import Synchronization

/// Plays signed calls to a server that verifies them, and attempts of others to pass as the app.
///
/// The server, TLS and both halves of signing are real. Which calls are accepted, and the reason of every refusal, are known
/// beforehand; deviations are in ``SigningTourReport/problems``.
public final class SigningTour {
    private let backend: SignedBackend
    private let way: SignedWay
    private let deviceKeys: DeviceKeys
    private var report = SigningTourReport()

    /// How many calls are made while the key is rotated, and after how many it is.
    private static let (workers, callsOfEach) = (4, 10)
    private static let oldKey = "device-7"
    private static let newKey = "device-8"

    /// Plays the whole tour.
    ///
    /// - Throws: The error of a server that can't start, and `CancellationError` when the task is cancelled.
    @concurrent public static func play() async throws -> SigningTourReport {
        let key = P256.Signing.PrivateKey()
        let record = KeyRecord(id: oldKey, key: .p256(key.publicKey), owner: "anna")
        let backend = try SignedBackend(keys: [record])
        return try await backend.serve { port in
            let trust = TransportConfiguration.Trust.certificates(pem: [backend.certificate.authorityPEM])
            let wire = try NIOTransport(configuration: TransportConfiguration(trust: trust))
            let keys = DeviceKeys(RequestKey(id: oldKey, signer: SigningKey.p256(key)))
            let tour = SigningTour(backend, SignedWay(wire: wire, port: port), keys)
            let report = await tour.play()
            await wire.shutdown(.cutting)
            try Task.checkCancellation()
            return report
        }
    }

    private init(_ backend: SignedBackend, _ way: SignedWay, _ keys: DeviceKeys) {
        (self.backend, self.way, deviceKeys) = (backend, way, keys)
    }

    private func play() async -> SigningTourReport {
        let app = layer("app", deviceKeys)
        await forge()
        await replay(of: app)
        await tamper(with: app)
        await callWithSlowClock()
        await rotate(under: app)
        return report
    }

    /// A layer whose calls are signed with the keys of a store.
    private func layer(_ name: String, _ keys: DeviceKeys, clock: LayerClock = .system) -> NetworkLayer {
        var pipeline = RequestPipeline()
        let policy = SigningPolicy(.signature(tag: SignedBackend.tag))
        pipeline.insert(SigningStage(for: OrderService.self, policy, keys: keys), before: .signing)
        return NetworkLayer(name: name, transport: way, pipeline: pipeline, clock: clock)
    }

    // MARK: - The steps

    /// Somebody who knows the identifier of the key signs with a key of their own.
    private func forge() async {
        let key = RequestKey(id: Self.oldKey, signer: SigningKey.p256(P256.Signing.PrivateKey()))
        let forger = layer("forger", DeviceKeys(key))
        await step("A forged call: signed with another key", ["401 invalid"], accepted: 0) {
            await self.failure(of: forger)
        }
    }

    /// Somebody on the way sends a request again that was accepted.
    private func replay(of app: NetworkLayer) async {
        if let error = await failure(of: app) { report.problems.append("the app's own call failed: \(error)") }
        let other = NetworkLayer(name: "other", transport: way)
        await step("A replayed call: the same request again", ["401 replayed"], accepted: 0) {
            guard let request = self.way.lastRequest else { return nil }
            do throws(NetworkError) {
                _ = try await other.exchange(request, with: OrderService.self)
                return nil
            } catch {
                return error
            }
        }
    }

    /// Somebody on the way changes the body.
    private func tamper(with app: NetworkLayer) async {
        way.changeNextBody(to: Array(#"{"item":"yacht"}"#.utf8))
        await step("A tampered call: another body", ["400 body"], accepted: 0) { await self.failure(of: app) }
    }

    /// The device's clock is an hour slow: the refusal has the server's time, with which the stage signs once more.
    private func callWithSlowClock() async {
        let clock = LayerClock(ContinuousClock()) { Date(timeIntervalSinceNow: -3_600) }
        let device = layer("slow", deviceKeys, clock: clock)
        await step("A stale clock: an hour slow", ["401 tooOld"], accepted: 1) {
            let error = await self.failure(of: device)
            if let error { self.report.problems.append("the clock was not corrected: \(error)") }
            return error
        }
    }

    /// The key is replaced while calls are made: the server knows both for an overlap, and then refuses the old one.
    private func rotate(under app: NetworkLayer) async {
        let key = P256.Signing.PrivateKey()
        let before = backend.orders.byKey
        let done = CallCount()
        let failures = await withTaskGroup(of: [NetworkError].self) { [backend, deviceKeys] group in
            for _ in 0..<Self.workers {
                group.addTask {
                    var failures: [NetworkError] = []
                    for _ in 0..<Self.callsOfEach {
                        if let error = await Self.failure(of: app) { failures.append(error) }
                        guard done.increment() == Self.workers * Self.callsOfEach / 2 else { continue }
                        let record = KeyRecord(id: Self.newKey, key: .p256(key.publicKey), owner: "anna")
                        let now = UnixTime(seconds: Int64(Date.now.timeIntervalSince1970))
                        _ = backend.keys.rotate(Self.oldKey, to: record, at: now, overlap: .seconds(3_600))
                        deviceKeys.replace(with: RequestKey(id: Self.newKey, signer: SigningKey.p256(key)))
                    }
                    return failures
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        let after = backend.orders.byKey
        let counts = [Self.oldKey, Self.newKey].map { after[$0, default: 0] - before[$0, default: 0] }
        let count = Self.workers * Self.callsOfEach
        report.rows.append(
            SigningTourReport.Row(
                title: "A key is rotated under \(count) calls", refusals: way.takeReasons(),
                accepted: counts.reduce(0, +),
                detail: "\(counts[0]) by the old key, \(counts[1]) by the new one"))
        report.problems += failures.map { "a call failed during the rotation: \($0)" }
        if counts.contains(0) || counts.reduce(0, +) != count {
            report.problems.append("the calls were not signed with both keys: \(counts)")
        }
    }

    /// Plays one step, and compares its outcome with the expected one.
    private func step(
        _ title: String, _ refusals: [String], accepted: Int, _ play: () async -> NetworkError?
    ) async {
        let before = backend.orders.total
        let error = await play()
        let row = SigningTourReport.Row(
            title: title, refusals: way.takeReasons(), accepted: backend.orders.total - before,
            detail: error?.detail ?? (accepted > 0 ? "signed again with the server's time" : ""))
        report.rows.append(row)
        if row.refusals != refusals || row.accepted != accepted {
            report.problems.append("\(title): \(row.outcome)")
        }
    }

    private func failure(of layer: NetworkLayer) async -> NetworkError? { await Self.failure(of: layer) }

    private static func failure(of layer: NetworkLayer) async -> NetworkError? {
        do throws(NetworkError) {
            _ = try await layer.call(PlaceOrder())
            return nil
        } catch {
            return error
        }
    }
}

/// The keys of a device, of which one signs.
private final class DeviceKeys: RequestKeyStore {
    /// Guards the key.
    private let current: Mutex<RequestKey>

    init(_ key: RequestKey) { current = Mutex(key) }

    func key(for owner: KeyOwner) -> RequestKey? { current.withLock { $0 } }

    func replace(with key: RequestKey) { current.withLock { $0 = key } }
}

/// How many calls are done.
private final class CallCount: Sendable {
    private let count = Atomic(0)

    /// Counts a call, and returns how many there are.
    func increment() -> Int { count.add(1, ordering: .relaxed).newValue }
}

/// The service whose requests are signed.
private enum OrderService: APIService {
    static let name = "orders"
    static let environments: [ServiceEnvironment: String] = [.release: "https://\(SignedBackend.authority)"]
}

/// Places an order, which only the app may.
private struct PlaceOrder: Endpoint {
    static let service = OrderService.self
    static let method = HTTPRequest.Method.post
    var path: EndpointPath { "orders" }
    var item = "bicycle"
}
