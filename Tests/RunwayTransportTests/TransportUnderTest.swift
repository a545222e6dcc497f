import Foundation
import Runway
import RunwayTransport
import Testing

/// A transport that can be told to end.
protocol EndingTransport: AnyObject, Transport {
    func shutdown(_ mode: ShutdownMode) async
}

extension EndingTransport {
    func shutdown() async { await shutdown(.waiting(atMost: .seconds(10))) }
}

extension AsyncHTTPClientTransport: EndingTransport {}
extension NIOTransport: EndingTransport {}

/// Which transport the layers of a test are made with.
enum TransportUnderTest: String, CaseIterable {
    case asyncHTTPClient
    case nio

    /// The one that the running test is for.
    @TaskLocal static var current = nio

    /// All of them, or the one that `RUNWAY_TRANSPORT` names.
    static var chosen: [TransportUnderTest] {
        ProcessInfo.processInfo.environment["RUNWAY_TRANSPORT"].flatMap(Self.init).map { [$0] } ?? allCases
    }

    /// A transport of its own for the running test.
    static func make(
        _ configuration: TransportConfiguration = TransportConfiguration()
    ) throws(NetworkError) -> any EndingTransport {
        switch current {
        case .asyncHTTPClient: try AsyncHTTPClientTransport(configuration: configuration)
        case .nio: try NIOTransport(configuration: configuration)
        }
    }
}

/// Runs every test of a suite once for each transport: what it says holds for all of them.
struct OverEveryTransport: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        for transport in TransportUnderTest.chosen {
            do {
                try await TransportUnderTest.$current.withValue(transport) { try await function() }
            } catch {
                Issue.record(error, "over \(transport)")
            }
        }
    }
}

extension Trait where Self == OverEveryTransport {
    /// Runs the tests once for each transport.
    static var overEveryTransport: Self { Self() }
}
