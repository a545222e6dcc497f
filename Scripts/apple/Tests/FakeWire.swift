import AppleFoundation
import AsyncHTTPClient
import HTTPTypes
import NIOCore

import enum NIOHTTP1.HTTPParserError
import struct NIOPosix.NIOConnectionError
import struct NIOSSL.TLSConfiguration

@testable import RunwayTransport

/// Sends the requests of one fake session to real servers, over HTTP/1.1.
///
/// What speaks to them is AsyncHTTPClient, which shares no code with the transport under test. Before a request over TLS, the system
/// shakes hands with the server and asks the delegate about it (``FakeSystem``). Content codings are decoded as `NIOTransport` does, if
/// the system knows all of a response, or else none.
final class FakeWire: Sendable {
    private let client: HTTPClient
    private let silence: TimeAmount

    private init(_ session: URLSessionConfiguration) {
        silence = TimeAmount.milliseconds(Int64(session.timeoutIntervalForRequest * 1000))
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: silence, read: silence),
            decompression: .disabled)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = session.httpMaximumConnectionsPerHost
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.httpVersion = .http1Only
        // Every server was verified by a handshake before.
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        configuration.tlsConfiguration = tls
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit { client.shutdown { _ in } }

    /// Performs a task of a session as its system does.
    static func perform(_ exchange: FakeExchange) async {
        guard let wire = exchange.stored(FakeWire.init) else { return }
        do {
            try await wire.perform(exchange)
            await exchange.complete()
        } catch {
            await exchange.complete(URLError(ofWire: error))
        }
    }

    private func perform(_ exchange: FakeExchange) async throws {
        try await FakeSystem.handshake(for: exchange, connectingWithin: silence)
        let response = try await client.execute(Self.request(of: exchange), deadline: .distantFuture)
        let status = Int(response.status.code)
        let location = response.headers.first(name: "Location").flatMap { URL(string: $0) }
        if (300..<400).contains(status), let location { _ = await exchange.redirect(status, to: location) }
        if status == 401 {
            let space = URLProtectionSpace(
                fakeHost: exchange.request.url?.host ?? "", method: NSURLAuthenticationMethodHTTPBasic)
            _ = await exchange.challenge(space)
        }
        // A session joins the fields of one name.
        var fields: [String: String] = [:]
        for (name, value) in response.headers {
            let known = fields.keys.first { $0.lowercased() == name.lowercased() } ?? name
            fields[known] = fields[known].map { "\($0), \(value)" } ?? value
        }
        await exchange.respond(status, fields)
        let names = response.headers["Content-Encoding"].joined(separator: ",")
        let undoable = ContentCoding.undoable(in: [.contentEncoding: names])
        let codings = undoable.count == names.split(separator: ",").count ? undoable : []
        let decoder = codings.isEmpty ? nil : try ContentDecoder(codings)
        for try await part in response.body {
            if let decoder {
                decoder.push(part)
                while let decoded = try decoder.pull() { await exchange.send(decoded) }
            } else {
                await exchange.send(Array(part.readableBytesView))
            }
        }
        try decoder?.finish()
    }

    private static func request(of exchange: FakeExchange) async throws -> HTTPClientRequest {
        let request = exchange.request
        var sent = HTTPClientRequest(url: request.url?.absoluteString ?? "")
        sent.method = .init(rawValue: request.httpMethod ?? "GET")
        for (name, value) in request.allHTTPHeaderFields ?? [:] where name.lowercased() != "content-length" {
            sent.headers.add(name: name, value: value)
        }
        if request.value(forHTTPHeaderField: "Accept-Encoding") == nil {
            sent.headers.add(name: "Accept-Encoding", value: "gzip, deflate")
        }
        if let body = request.httpBody {
            sent.body = .bytes(ByteBuffer(bytes: body))
        } else if exchange.isUpload {
            guard let stream = await exchange.newBodyStream() else { throw URLError(.requestBodyStreamExhausted) }
            let length = request.value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }
            sent.body = .stream(
                exchange.parts(of: stream).map { ByteBuffer(bytes: $0) },
                length: length.map { .known($0) } ?? .unknown)
        }
        return sent
    }
}

extension URLError {
    /// The error that a session reports for one of the wire.
    fileprivate init(ofWire error: any Error) {
        self =
            switch error {
            case let error as URLError: error
            case let error as HTTPClientError where error == .connectTimeout || error == .readTimeout:
                URLError(.timedOut)
            // The server closed the connection in the middle of the response.
            case HTTPParserError.invalidEOFState: URLError(.networkConnectionLost)
            case is HTTPParserError: URLError(.cannotParseResponse)
            case is ContentDecoder.Failure: URLError(.cannotDecodeContentData)
            case is NIOConnectionError: URLError(.cannotConnectToHost)
            case let error as IOError where error.errnoCode == ECONNREFUSED: URLError(.cannotConnectToHost)
            default: URLError(.networkConnectionLost)
            }
    }
}
