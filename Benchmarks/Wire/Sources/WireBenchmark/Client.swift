import AsyncHTTPClient
import Foundation
import NIOCore
import Runway
import RunwayTransport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A client of its own for a few calls, made anew where a cold one is wanted.
struct Client {
    enum Kind: String, CaseIterable {
        case curl = "libcurl"
        case asyncHTTPClient = "AsyncHTTPClient"
        case runway = "Runway"
        case urlSession = "URLSession"
    }

    /// GETs a URL whose response has a number of bytes.
    let call: (_ url: String, _ byteCount: Int) async throws -> Void
    /// GETs the same, reads the body part by part, and gives when its first byte came, as ``monotonicTime()`` has it.
    let stream: (_ url: String, _ byteCount: Int) async throws -> Double
    let close: () async throws -> Void

    /// Makes a client that trusts the system's roots, or one file of them. URLSession on Linux trusts the system's alone.
    init(_ kind: Kind, root: String?) throws {
        switch kind {
        case .curl:
            let client = try CurlClient(root: root ?? "/etc/ssl/certs/ca-certificates.crt", http1Only: false)
            call = { url, byteCount in try await client.run(url, count: 1, atATime: 1, byteCount: byteCount) }
            stream = { url, byteCount in
                try await client.run(url, count: 1, atATime: 1, byteCount: byteCount)
                return client.firstByte
            }
            close = {}
        case .asyncHTTPClient:
            let client = try makeClient(root: root, http1Only: false)
            call = { url, byteCount in
                try await asyncHTTPClient(client, url: url, byteCount: byteCount).makeCalls(1, 1)
            }
            stream = { url, byteCount in
                let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(60))
                return try await firstByte(of: response.body, byteCount: byteCount) { $0.readableBytes }
            }
            close = { try await client.shutdown() }
        case .runway:
            let pem = try root.map { try String(contentsOfFile: $0, encoding: .utf8) }
            let transport = try NIOTransport(
                configuration: TransportConfiguration(trust: pem.map { .certificates(pem: [$0]) } ?? .system))
            call = { url, byteCount in
                let (network, file) = try layer(over: transport, to: url)
                try await networkCall("", network, file: file, byteCount: byteCount).makeCalls(1, 1)
            }
            stream = { url, byteCount in
                let (network, file) = try layer(over: transport, to: url)
                let response = try await network.stream(File(name: file))
                return try await firstByte(of: response.body, byteCount: byteCount) { $0.count }
            }
            close = { await transport.shutdown() }
        case .urlSession: (call, stream, close) = Self.urlSessionCalls()
        }
    }

    private typealias Calls = (
        call: (String, Int) async throws -> Void, stream: (String, Int) async throws -> Double,
        close: () async throws -> Void
    )

    /// Apart, so that no other client pays for what the runtime has to look up of these types.
    @inline(never)
    private static func urlSessionCalls() -> Calls {
        let arrival = ArrivalDelegate()
        let session = URLSession(configuration: .ephemeral, delegate: arrival, delegateQueue: nil)
        return (
            call: { url, byteCount in
                try await urlSession(session, url: url, byteCount: byteCount).makeCalls(1, 1)
            },
            stream: { url, byteCount in
                guard let url = URL(string: url) else { throw UnexpectedResponse() }
                return try await arrival.firstByte(of: session.dataTask(with: url), byteCount: byteCount)
            },
            close: { session.invalidateAndCancel() }
        )
    }
}

/// A layer for one URL, and the file that it names.
private func layer(over transport: NIOTransport, to url: String) throws -> (NetworkLayer, file: String) {
    guard let slash = url.lastIndex(of: "/") else { throw UnexpectedResponse() }
    return (makeNetwork(over: transport, at: String(url[..<slash])), String(url[url.index(after: slash)...]))
}
