import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

@testable import RunwayDemo

/// A client of the backend that trusts its certificate and nothing else.
struct BackendClient: Sendable {
    struct BackendResponse {
        let status: Int
        let headers: HTTPHeaders
        let version: HTTPVersion
        let body: Data

        /// The body as a JSON object. Throws when it is none.
        func object() throws -> [String: Any] {
            guard let object = try JSONSerialization.jsonObject(with: body) as? [String: Any] else {
                throw CocoaError(.propertyListReadCorrupt)
            }
            return object
        }
    }

    let client: HTTPClient
    let baseURL: String

    func get(_ path: String, token: String? = nil) async throws -> BackendResponse {
        var request = HTTPClientRequest(url: baseURL + path)
        if let token { request.headers.add(name: "authorization", value: "Bearer \(token)") }
        return try await send(request)
    }

    /// Sends `json` as the body.
    func post(_ path: String, _ json: String) async throws -> BackendResponse {
        var request = HTTPClientRequest(url: baseURL + path)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.body = .bytes(ByteBuffer(string: json))
        return try await send(request)
    }

    private func send(_ request: HTTPClientRequest) async throws -> BackendResponse {
        let response = try await client.execute(request, timeout: .seconds(120))
        let body = try await response.body.collect(upTo: 1 << 20)
        return BackendResponse(
            status: Int(response.status.code), headers: response.headers, version: response.version,
            body: Data(body.readableBytesView))
    }

    /// The configuration of a client that trusts `authorityDER`, or what the system trusts when it is nil.
    static func configuration(
        trusting authorityDER: [UInt8]?, version: HTTPClient.Configuration.HTTPVersion = .automatic
    ) throws -> HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let authorityDER {
            tls.trustRoots = .certificates([try NIOSSLCertificate(bytes: authorityDER, format: .der)])
        }
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.httpVersion = version
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}

/// Serves `backend` and gives `body` a client for it, whose connections stay open until the backend has stopped.
func withClient<Value: Sendable>(
    of backend: ListingsBackend,
    version: HTTPClient.Configuration.HTTPVersion = .automatic,
    _ body: (BackendClient, ServingBackend) async throws -> Value
) async throws -> Value {
    let configuration = try BackendClient.configuration(
        trusting: backend.certificate?.authorityDER, version: version)
    return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
        try await withListingsBackend(backend) { serving in
            try await body(BackendClient(client: client, baseURL: serving.baseURL), serving)
        }
    }
}
