import AppleFoundation
import Security
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

    /// The transport has the code of iOS here, and the fakes' sessions have multipath on every system.
    @Test(arguments: [false, true]) func multipathIsThatOfTheConfiguration(isAllowed: Bool) async throws {
        var configuration = URLSessionTransport.Configuration()
        configuration.allowsMultipathHandover = isAllowed
        let seen = Seen<URLSessionConfiguration.MultipathServiceType>()
        let network = layer(configuration) { exchange in
            seen.note(exchange.sessionConfiguration.multipathServiceType)
            await exchange.respond()
            await exchange.complete()
        }
        _ = try await network.call(Get())
        #expect(seen.all == [isAllowed ? .handover : .none])
    }

    @Test func sessionStoresAndAddsNothing() async throws {
        let seen = Seen<URLSessionConfiguration>()
        let network = layer { exchange in
            seen.note(exchange.sessionConfiguration)
            await exchange.respond()
            await exchange.complete()
        }
        _ = try await network.call(Get())
        let session = try #require(seen.all.first)
        #expect(session.httpCookieStorage == nil && session.urlCache == nil && session.urlCredentialStorage == nil)
        #expect(!session.httpShouldSetCookies && session.httpCookieAcceptPolicy == .never)
        #expect(session.requestCachePolicy == .reloadIgnoringLocalCacheData)
        #expect(session.tlsMinimumSupportedProtocolVersion == .TLSv12)
        // A session knows no deadline of a call; `CallOptions.waitsForNetwork` does.
        #expect(!session.waitsForConnectivity)
    }
}
