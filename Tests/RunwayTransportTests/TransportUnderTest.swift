import Foundation
import Runway
import RunwayTransport
import Synchronization
import Testing

/// A transport that can be shut down.
protocol EndingTransport: AnyObject, Transport {
    func shutdown(waitingAtMost limit: Duration) async
}

extension EndingTransport {
    func shutdown() async { await shutdown(waitingAtMost: .seconds(300)) }
}

extension AsyncHTTPClientTransport: EndingTransport {}
extension NIOTransport: EndingTransport {}

/// The transport that the layers of a test are made with.
enum TransportUnderTest: String, CaseIterable {
    case asyncHTTPClient
    case nio
    case urlSession

    /// The transport that the running test is for.
    @TaskLocal static var current = nio

    /// Has the system that sessions use trust certificates in PEM; `nil` if it is a real one, which can't be changed. A program over another
    /// system sets it before the first test.
    static let trustInSystem = Mutex<(@Sendable ([String]) throws -> Void)?>(nil)

    /// All transports, or the one that `RUNWAY_TRANSPORT` names.
    static var chosen: [TransportUnderTest] {
        ProcessInfo.processInfo.environment["RUNWAY_TRANSPORT"].flatMap(Self.init).map { [$0] } ?? allCases
    }

    /// Whether the running test is for sessions on Linux, where Foundation's are made with libcurl.
    static var isSessionOnLinux: Bool {
        #if canImport(FoundationNetworking)
            current == .urlSession
        #else
            false
        #endif
    }

    /// Returns a new transport for the running test. A session reads the idle time-out and the limit on connections alone; certificates
    /// that are trusted are the system's, if that can be changed.
    static func make(
        _ configuration: TransportConfiguration = TransportConfiguration(connectTimeout: .seconds(300))
    ) throws(NetworkError) -> any Transport {
        switch current {
        case .asyncHTTPClient, .nio: return try makeEnding(configuration)
        case .urlSession:
            if case .certificates(let pem) = configuration.trustPolicy.roots {
                do { try trustInSystem.withLock(\.self)?(pem) } catch {
                    throw NetworkError(.invalidConfiguration, in: .transporting, "The certificates can't be read.")
                }
            }
            return URLSessionTransport(
                configuration: URLSessionTransport.Configuration(
                    idleTimeout: configuration.idleTimeout,
                    maximumConnectionsPerOrigin: configuration.maximumConnectionsPerOrigin))
        }
    }

    /// Returns a new transport for the running test that can be shut down, which a session can't.
    static func makeEnding(
        _ configuration: TransportConfiguration = TransportConfiguration(connectTimeout: .seconds(300))
    ) throws(NetworkError) -> any EndingTransport {
        switch current {
        case .asyncHTTPClient: try AsyncHTTPClientTransport(configuration: configuration)
        case .nio: try NIOTransport(configuration: configuration)
        case .urlSession: preconditionFailure("a session can't be shut down")
        }
    }
}

/// Runs every test of a suite once for each transport: what a test claims holds for all of them.
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

/// Leaves out one transport, which does not promise what the test claims.
struct ExceptOverTransport: SuiteTrait, TestTrait, TestScoping {
    /// `nil` leaves out none.
    let transport: TransportUnderTest?
    /// Why the transport does not promise it.
    let reason: Comment
    var isRecursive: Bool { true }
    var comments: [Comment] { [reason] }

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        if TransportUnderTest.current != transport { try await function() }
    }
}

extension Trait where Self == OverEveryTransport {
    /// Runs the tests once for each transport.
    static var overEveryTransport: Self { Self() }
}

extension Trait where Self == ExceptOverTransport {
    /// Leaves out a transport, for this reason. Stands behind ``overEveryTransport``, in the same list or in that of the suite.
    static func except(_ transport: TransportUnderTest, _ reason: Comment) -> Self {
        Self(transport: transport, reason: reason)
    }

    /// Leaves out sessions of a real system, which trusts the authorities that it has.
    static var exceptSessionOfRealSystem: Self {
        Self(
            transport: TransportUnderTest.trustInSystem.withLock { $0 == nil } ? .urlSession : nil,
            reason: "it trusts the system's authorities alone")
    }

    /// Leaves out sessions of a fake system, for this reason.
    static func exceptSessionOfFakeSystem(_ reason: Comment) -> Self {
        Self(
            transport: TransportUnderTest.trustInSystem.withLock { $0 == nil } ? nil : .urlSession, reason: reason)
    }

    /// Leaves out sessions on Linux, where Foundation's are made with libcurl, for this reason.
    static func exceptSessionOnLinux(_ reason: Comment) -> Self {
        #if canImport(FoundationNetworking)
            Self(transport: .urlSession, reason: reason)
        #else
            Self(transport: nil, reason: reason)
        #endif
    }
}
