import AsyncHTTPClient
import Foundation
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

    /// GETs a URL whose answer has so many bytes.
    let call: (_ url: String, _ byteCount: Int) async throws -> Void
    let close: () async throws -> Void

    /// Makes a client that trusts the system's roots, or one file of them. URLSession on Linux trusts the system's alone.
    init(_ kind: Kind, root: String?) throws {
        switch kind {
        case .curl:
            let client = try CurlClient(root: root ?? "/etc/ssl/certs/ca-certificates.crt", http1Only: false)
            call = { url, byteCount in try await client.run(url, count: 1, atATime: 1, byteCount: byteCount) }
            close = {}
        case .asyncHTTPClient:
            let client = try makeClient(root: root, http1Only: false)
            call = { url, byteCount in
                try await asyncHTTPClient(client, url: url, byteCount: byteCount).makeCalls(1, 1)
            }
            close = { try await client.shutdown() }
        case .runway:
            let pem = try root.map { try String(contentsOfFile: $0, encoding: .utf8) }
            let transport = try NIOTransport(
                configuration: TransportConfiguration(trust: pem.map { .certificates(pem: [$0]) } ?? .system))
            call = { url, byteCount in
                guard let slash = url.lastIndex(of: "/") else { throw UnexpectedAnswer() }
                let network = makeNetwork(over: transport, at: String(url[..<slash]))
                let file = String(url[url.index(after: slash)...])
                try await networkCall("", network, file: file, byteCount: byteCount).makeCalls(1, 1)
            }
            close = { await transport.shutdown() }
        case .urlSession:
            let session = URLSession(configuration: .ephemeral)
            call = { url, byteCount in
                try await urlSession(session, url: url, byteCount: byteCount).makeCalls(1, 1)
            }
            close = { session.invalidateAndCancel() }
        }
    }
}
