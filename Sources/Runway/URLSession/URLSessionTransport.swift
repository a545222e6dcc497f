import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Puts requests on the wire with the platform's `URLSession`: the choice on Apple's systems, where HTTP/3, the radio, the VPN and
/// the proxy are up to the system.
///
/// Redirects, cookies, caches, credentials and further attempts are left to the layer. Content codings are undone by the session.
/// On Apple's systems a streamed answer that is read slowly suspends its task, the trust in servers is that of the system, and the record
/// has the times that the system measured. It is what a ``NetworkLayer`` has there that is made without a transport.
///
/// On Linux, Foundation's `URLSession` stands on libcurl, and can do less. Use `NIOTransport` there. What it can't:
///
/// - A running task can't be paused: a reader of a streamed answer that falls further behind than
///   ``Configuration/maximumBufferedByteCount`` gets an error.
/// - The body of a redirect comes as a whole at its end.
/// - A body that is a stream is written to a temporary file first, of at most ``Configuration/maximumSpooledByteCount``, and sent when it
///   is whole.
/// - HTTP/1.1 alone, the system's certificate authorities alone, and no measured times. The record names no version of HTTP.
/// - libcurl reads proxies from environment variables such as `http_proxy`, and would use them for this machine too. A call to a
///   loopback name or address therefore fails unless `no_proxy` lists the host.
/// - Header fields that stand several times are given as one, and so is their order lost; `Set-Cookie` is taken apart again.
/// - A content coding that libcurl does not know fails the call, as it is never passed on undone.
/// - Waits are counted in whole seconds, from one second on.
/// - A server that closes the connection in the middle of an answer's head ends the process, inside Foundation (seen with Swift 6.3):
///   talk only to servers you know.
public final class URLSessionTransport: Transport {
    /// How a transport connects.
    public struct Configuration: Sendable {
        /// The longest silence of a server while it is connected to, awaited, or while it sends. The default is 60 s.
        public var idleTimeout: Duration
        /// The most HTTP/1.1 connections to one origin; further requests wait. The default is 8.
        public var maximumConnectionsPerOrigin: Int
        /// The most bytes of one streamed answer that wait for their reader. The default is 4 MiB; at least 64 KiB.
        ///
        /// What the system has read already comes on top of it.
        public var maximumBufferedByteCount: Int
        /// The most bytes of one streamed request that are written to a file before they are sent, on Linux. The default is 4 GiB.
        public var maximumSpooledByteCount: Int

        /// Makes a configuration; see the properties for the defaults.
        public init(
            idleTimeout: Duration = .seconds(60), maximumConnectionsPerOrigin: Int = 8,
            maximumBufferedByteCount: Int = 4 << 20, maximumSpooledByteCount: Int = 4 << 30
        ) {
            self.idleTimeout = idleTimeout
            self.maximumConnectionsPerOrigin = maximumConnectionsPerOrigin
            self.maximumBufferedByteCount = maximumBufferedByteCount
            self.maximumSpooledByteCount = maximumSpooledByteCount
        }
    }

    private let configuration: Configuration
    private let relay = URLSessionRelay()
    private let session: URLSession

    /// Makes a transport. No connection is opened before it is needed.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        session = URLSession(
            configuration: configuration.sessionConfiguration, delegate: relay, delegateQueue: relay.queue)
    }

    deinit {
        session.invalidateAndCancel()
    }

    /// Whether nothing can hold a caller longer than it wants to wait: always, but on Linux for a body that is a stream.
    public func endsInTime(_ request: Request) -> Bool {
        #if canImport(FoundationNetworking)
            if case .stream = request.body { return false }
        #endif
        return true
    }

    /// Sends a request and gives its answer.
    ///
    /// - Throws: A `NetworkError` of the step `FlightStep.transporting`.
    public func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        do {
            let exchange = try await begin(request, in: flight)
            return try await flight.withDeadlineHandler {
                try await exchange.response()
            } onDeadline: {
                exchange.stop(URLError(.timedOut))
            }
        } catch {
            throw NetworkError(session: error, from: request.head.authority)
        }
    }

    private func begin(_ request: Request, in flight: Flight) async throws -> URLSessionExchange {
        #if canImport(FoundationNetworking)
            let origin = Origin(request.head)
            if origin.isLoopback,
                let variable = LoopbackProxy.variable(for: origin, in: ProcessInfo.processInfo.environment)
            {
                throw LoopbackProxy(variable: variable)
            }
        #endif
        var urlRequest = try request.urlRequest()
        urlRequest.timeoutInterval = configuration.idleSeconds
        guard case .stream(let stream, let byteCount, _) = request.body else {
            return relay.start(session.dataTask(with: urlRequest), for: request, in: flight, configuration, nil)
        }
        #if canImport(FoundationNetworking)
            let upload = try await Upload(stream, byteCount: byteCount, upTo: configuration.maximumSpooledByteCount)
            let task = session.uploadTask(with: urlRequest, fromFile: upload.file)
        #else
            let upload = Upload(stream, byteCount: byteCount)
            urlRequest.httpBodyStream = upload.stream
            let task = session.dataTask(with: urlRequest)
        #endif
        return relay.start(task, for: request, in: flight, configuration, upload)
    }
}

extension URLSessionTransport.Configuration {
    fileprivate var idleSeconds: TimeInterval { max(1, idleTimeout.seconds.rounded(.up)) }

    /// A session that keeps nothing and adds nothing.
    fileprivate var sessionConfiguration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.timeoutIntervalForRequest = idleSeconds
        configuration.httpMaximumConnectionsPerHost = max(1, maximumConnectionsPerOrigin)
        #if canImport(Darwin)
            configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
        #endif
        return configuration
    }
}
