import Foundation
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

struct NetworkStatusTests {
    /// Collects the notifications of one layer, as long as it is retained.
    private final class ReportedStatuses {
        private final class Posts: Sendable {
            /// Guards what was posted: the layer's name and the status.
            let received = Mutex<[(name: String?, status: NetworkStatus?)]>([])
        }

        private let posts = Posts()
        private let token: any NSObjectProtocol

        init(of network: NetworkLayer) {
            token = NotificationCenter.default.addObserver(
                forName: NetworkLayer.statusDidChange, object: network, queue: nil
            ) { [posts] notification in
                let name = notification.userInfo?[NetworkLayer.networkNameKey] as? String
                let status = notification.userInfo?[NetworkLayer.networkStatusKey] as? NetworkStatus
                posts.received.withLock { $0.append((name, status)) }
            }
        }

        deinit { NotificationCenter.default.removeObserver(token) }

        var statuses: [NetworkStatus?] { posts.received.withLock { $0.map(\.status) } }
        var names: [String?] { posts.received.withLock { $0.map(\.name) } }
    }

    private func layer(_ status: any NetworkStatusSource, name: String = "default") -> NetworkLayer {
        NetworkLayer(name: name, transport: StubTransport { _ in .json("{}") }, pipeline: .tested, status: status)
    }

    @Test func unknownStatusCountsAsReachable() {
        let network = NetworkLayer(transport: StubTransport { _ in .json("{}") }, pipeline: .tested)
        #expect(network.status == .unknown)
        #expect(network.isReachable)
    }

    @Test(arguments: [
        (NetworkStatus.wired, true), (.wifi, true), (.cellular, true), (.unknown, true), (.none, false),
        (NetworkStatus(.none, isConstrained: true), false),
    ])
    func onlyNoneIsUnreachable(_ status: NetworkStatus, _ isReachable: Bool) {
        let network = layer(SettableNetworkStatus(status))
        #expect(network.status == status)
        #expect(network.isReachable == isReachable)
    }

    @Test func changesPostOneNotificationNamingTheNetwork() {
        let status = SettableNetworkStatus(.wifi)
        let network = layer(status, name: "shop")
        let reported = ReportedStatuses(of: network)
        for next in [NetworkStatus.wifi, .none, .none, .cellular, NetworkStatus(.cellular), .wired] { status.set(next) }
        #expect(reported.statuses == [.none, .cellular, NetworkStatus(.cellular), .wired].map { Optional($0) })
        #expect(Set(reported.names) == ["shop"])
    }

    @Test func aReaderReceivesTheStatusAndEveryChange() async {
        let status = SettableNetworkStatus(.wifi)
        let network = layer(status)
        var reading = network.statuses.makeAsyncIterator()
        #expect(await reading.next() == .wifi)
        status.set(.none)
        #expect(await reading.next() == NetworkStatus.none)
        var second = network.statuses.makeAsyncIterator()
        #expect(await second.next() == NetworkStatus.none)
        for next in [NetworkStatus.cellular, .wired] { status.set(next) }
        #expect(await reading.next() == .wired)
        #expect(await second.next() == .wired)
    }

    @Test(.timeLimit(.minutes(5))) func readingEndsWithTheLayer() async throws {
        var network: NetworkLayer? = layer(SettableNetworkStatus(.wifi))
        weak let connectivity = network?.connectivity
        let reading = try #require(network?.statuses)
        network = nil
        var read: [NetworkStatus] = []
        for await status in reading { read.append(status) }
        #expect(read == [.wifi])
        #expect(connectivity == nil)
    }

    @Test func layersObserveOnlyTheirOwnSource() {
        let (one, two) = (SettableNetworkStatus(.wifi), SettableNetworkStatus(.wifi))
        let (first, second) = (layer(one, name: "one"), layer(two, name: "two"))
        let (firstNotified, secondNotified) = (ReportedStatuses(of: first), ReportedStatuses(of: second))
        one.set(.none)
        #expect(firstNotified.statuses == [NetworkStatus.none])
        #expect(secondNotified.statuses.isEmpty)
        #expect(second.isReachable)
    }

    @Test func layersMayShareASource() {
        let status = SettableNetworkStatus(.wifi)
        let layers = ["one", "two"].map { layer(status, name: $0) }
        let reported = layers.map { ReportedStatuses(of: $0) }
        status.set(.cellular)
        #expect(reported.map(\.names) == [["one"], ["two"]])
    }

    @Test func sourceDoesNotRetainItsLayer() {
        let status = SettableNetworkStatus(.wifi)
        weak var network: NetworkLayer?
        do {
            let layer = layer(status)
            network = layer
            status.set(.none)
        }
        #expect(network == nil)
        status.set(.wifi)
    }

    @Test func lastNotificationIsOfTheLastStatus() async {
        for _ in 0..<50 {
            let status = SettableNetworkStatus(.unknown)
            let network = layer(status)
            let reported = ReportedStatuses(of: network)
            await withTaskGroup { group in
                for next in [NetworkStatus.wifi, .none, .cellular, .wired] { group.addTask { status.set(next) } }
            }
            #expect(reported.statuses.last == status.current)
            #expect(reported.statuses.count <= 4)
        }
    }

    @Test func descriptionNamesExpensiveAndConstrainedLinks() {
        #expect("\(NetworkStatus.wifi)" == "wifi")
        #expect(
            "\(NetworkStatus(.cellular, isExpensive: true, isConstrained: true))" == "cellular, expensive, constrained")
    }
}
