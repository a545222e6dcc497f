import AppleFoundation
import Synchronization
import Testing

@testable import Runway

/// What a configuration sets of the session's.
struct ConfigurationTests {
    @Test(arguments: [(true, true), (false, true), (true, false)])
    func accessToNetworksIsThatOfTheConfiguration(isExpensiveAllowed: Bool, isConstrainedAllowed: Bool) async throws {
        var configuration = URLSessionTransport.Configuration()
        configuration.allowsExpensiveNetworkAccess = isExpensiveAllowed
        configuration.allowsConstrainedNetworkAccess = isConstrainedAllowed
        let seen = Seen<[Bool]>()
        let network = layer(configuration) { exchange in
            let session = exchange.sessionConfiguration
            seen.note([session.allowsExpensiveNetworkAccess, session.allowsConstrainedNetworkAccess])
            await exchange.respond()
            await exchange.complete()
        }
        _ = try await network.call(Get())
        #expect(seen.all == [[isExpensiveAllowed, isConstrainedAllowed]])
    }
}
