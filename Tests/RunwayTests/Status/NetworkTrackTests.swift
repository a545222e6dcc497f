import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// Which changes of the network are reported to transports.
struct NetworkTrackTests {
    @Test(arguments: [
        ([NetworkStatus.wifi, .cellular, .cellular, .wired], [true, false, true]),
        ([.unknown, .wifi, .cellular], [false, true]),
        ([.wifi, .none, .wifi, .wifi], [false, true, false]),
        ([.unknown, .none, .unknown], [false, true]),
        ([.none, .wifi], [true]),
        ([.cellular, NetworkStatus(.cellular), NetworkStatus(.cellular, isConstrained: true)], [false, false]),
        ([NetworkStatus(.wifi, identity: "home"), NetworkStatus(.wifi, identity: "work")], [true]),
    ])
    func onlyAnotherOrReturningNetworkLeadsElsewhere(_ statuses: [NetworkStatus], _ expected: [Bool]) {
        var track = NetworkTrack(statuses[0])
        let found = statuses.dropFirst().map { track.record($0) }
        #expect(found == expected)
    }

    private final class TellingTransport: Transport {
        let reported = Mutex<[String]>([])

        func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response { .json("{}") }
        func warmUp(_ url: String) { reported.withLock { $0.append(url) } }
        func networkDidChange(to status: NetworkStatus) { reported.withLock { $0.append("\(status)") } }
    }

    @Test func transportsAreNotifiedBeforeTheWaitersSend() async throws {
        let status = SettableNetworkStatus(.wifi)
        let (own, services) = (TellingTransport(), TellingTransport())
        let network = NetworkLayer(transport: own, pipeline: .tested, status: status)
        network.configure(Library.self) { $0.transport = services }
        for next in [NetworkStatus.none, .cellular, NetworkStatus(.cellular)] { status.set(next) }
        #expect(own.reported.withLock { $0 } == ["cellular, expensive"])
        #expect(services.reported.withLock { $0 } == ["cellular, expensive"])
    }

    @Test func warmUpUsesTheServicesTransport() {
        let status = SettableNetworkStatus(.wifi)
        let (own, services) = (TellingTransport(), TellingTransport())
        let network = NetworkLayer(transport: own, pipeline: .tested, status: status)
        network.warmUp(Library.self)
        network.configure(Library.self) { $0.transport = services }
        network.warmUp(Library.self)
        network.configure(Library.self) { $0.environment = "nowhere" }
        network.warmUp(Library.self)
        status.set(.none)
        network.configure(Library.self) { $0.environment = .release }
        network.warmUp(Library.self)
        #expect(own.reported.withLock { $0 } == ["https://library.test/v1"])
        #expect(services.reported.withLock { $0 } == ["https://library.test/v1"])
    }
}
