import Foundation
import HTTPTypes
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

@testable import Runway

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Fields whose octets are needed, with octets that are not UTF-8: they are passed unchanged, or the record says that they are
/// missing.
@Suite(.timeLimit(.minutes(10)))
struct LostFieldTests {
    private static let location = Array("/caf".utf8) + [0xE9]
    private static let cookie = Array("session=".utf8) + [0xE9, 0x80]

    /// The decoded location is U+FFFD in the place of the last octet.
    private func expectUnknownTarget(_ error: NetworkError, _ record: FlightRecord) {
        #expect(error.kind == .invalidResponse && error.status == .found, "\(error)")
        #expect(error.detail.contains("a Location that is not UTF-8"), "\(error)")
        #expect(record.decisions(of: OmittedFieldsDecision.self) == [OmittedFieldsDecision(names: [.location])])
        #expect(record.attempts.count == 1)
    }

    private func withHTTP2Server(
        _ status: String, _ fields: [(String, [UInt8])], _ body: (NetworkLayer, RecordCollector) async throws -> Void
    ) async throws {
        let block = rawBlock([(":status", Array(status.utf8))] + fields)
        try await RawHTTP2Server.run { connection, frame in
            guard let frame else { return connection.write(.settings(), .settingsAck) }
            if frame.is(.headers) { connection.write(.headers(frame.stream, block, isLast: true)) }
        } _: { server in
            let records = RecordCollector()
            let transport = try TransportUnderTest.make(server.configuration())
            try await body(NetworkLayer(to: server.baseURL, over: transport, sinks: [records]), records)
        }
    }

    @Test(.overEveryTransport, .except(.urlSession, "it trusts the system's authorities alone"))
    func http2RedirectIsNotCalledLocationless() async throws {
        try await withHTTP2Server("302", [("location", Self.location)]) { network, records in
            let error = try await network.failure(of: Fetch<GET>("a"))
            expectUnknownTarget(error, try #require(try await records.records(count: 1).first))
        }
    }

    @Test(.overEveryTransport, .except(.urlSession, "it trusts the system's authorities alone"))
    func cookieOverHTTP2IsNeverOmittedSilently() async throws {
        let fields = [("set-cookie", Self.cookie), ("set-cookie", Array("a=1".utf8)), ("location", Self.location)]
        try await withHTTP2Server("201", fields) { network, records in
            let response = try await network.call(Fetch<GET>("a")).response
            #expect(response.headerFields[values: .setCookie] == ["a=1"])
            let record = try #require(try await records.records(count: 1).first)
            #expect(
                record.decisions(of: OmittedFieldsDecision.self) == [
                    OmittedFieldsDecision(names: [.setCookie, .location])
                ])
            #expect("\(record)".contains("left out as not UTF-8: set-cookie, location"))
        }
    }

    private func script(_ origin: ScriptedOrigin) {
        var redirect = ScriptedResponse.text("", status: .found)
        redirect.headerFields.append(HTTPField(name: .location, value: Self.location))
        origin.on("/a", respond: redirect)
        var cookie = ScriptedResponse.text("set")
        cookie.headerFields.append(HTTPField(name: .setCookie, value: Self.cookie))
        origin.on("/set", respond: cookie)
        origin.on("/caf%E9", respond: .text("there"))
    }

    @Test(.overEveryTransport) func fieldsOverHTTP1AreUnchangedOrReported() async throws {
        try await withScriptedOrigin { origin in
            script(origin)
            let records = RecordCollector()
            let network = try NetworkLayer(to: origin.baseURL, sinks: [records])
            if TransportUnderTest.current == .urlSession { return try await expectRefusals(over: network) }
            let cookie = try await network.call(Fetch<GET>("set")).response.headerFields[fields: .setCookie].first
            let lost = try #require(try await records.records(count: 1).first).decisions(of: OmittedFieldsDecision.self)
            switch TransportUnderTest.current {
            case .nio:
                #expect(cookie?.withUnsafeBytesOfValue { Array($0) } == Self.cookie && lost.isEmpty)
                #expect(try await network.call(Fetch<GET>("a")).text == "there")
            case .asyncHTTPClient:
                #expect(cookie == nil && lost == [OmittedFieldsDecision(names: [.setCookie])])
                let error = try await network.failure(of: Fetch<GET>("a"))
                expectUnknownTarget(error, try #require(try await records.records(count: 2).last))
            case .urlSession: break
            }
        }
    }

    /// libcurl's Foundation refuses the whole response; on Apple's systems the fields are reported or unchanged.
    private func expectRefusals(over network: NetworkLayer) async throws {
        #if canImport(FoundationNetworking)
            for path: EndpointPath in ["set", "a"] {
                let error = try await network.failure(of: Fetch<GET>(path))
                #expect(error.kind == .invalidResponse && error.detail.contains("can't be read"), "\(error)")
            }
        #endif
    }

    @Test func sessionFieldsWithoutTheirOctetsAreNamed() throws {
        let fields = ["Location": "/caf\u{FFFD}", "Set-Cookie": "a=\u{FFFD}, b=1", "X-Note": "\u{FFFD}"]
        let url = try #require(URL(string: "https://h.test/a"))
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: fields))
        let (head, omittedFields, _) = HTTPResponse.reading(response)
        #expect(Set(omittedFields) == [.location, .setCookie] && omittedFields.count == 2)
        #expect(head.headerFields[values: .setCookie] == ["b=1"] && head.headerFields[.location] == nil)
    }
}
