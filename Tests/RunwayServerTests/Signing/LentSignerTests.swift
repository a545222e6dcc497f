import HTTPTypes
import RunwayJSON
import RunwayServer
import RunwaySignatures
import Testing

/// The signer of an envelope, and its items.
@Suite(.timeLimit(.minutes(5)))
struct LentSignerTests {
    private func envelope(_ items: String...) -> SignedCall {
        var call = SignedCall.post(#"{"requests":[\#(items.joined(separator: ","))]}"#, to: "/v1/_batch")
        call.fields[.contentType] = "application/json"
        return call
    }

    private func responses(_ reply: SignedCall.Reply) throws -> [JSONValue] {
        #expect(reply.status == 200)
        return Array(try JSONDocument(reply.body).root["responses"].elements)
    }

    @Test func itemsHaveTheSignerOfTheirEnvelope() async throws {
        try await withSignedServer { server in
            let call = envelope("/v1/echo/a%2Fb?x=1".item("1"), "/v1/echo/c".item("2"))
            let responses = try responses(try await call.send(to: server))
            #expect(responses.map { $0["body"].string } == ["k-1 anna /v1/echo/a%2Fb?x=1", "k-1 anna /v1/echo/c"])
            #expect(try server.outcomes("accepted") == 1)
        }
    }

    @Test func itemOfUnsignedEnvelopeNeverRuns() async throws {
        try await withSignedServer { server in
            let reply = try await envelope("/v1/echo/a".item("1")).send(to: server) {
                $0.headerFields[.signature] = nil
                $0.headerFields[.signatureInput] = nil
            }
            #expect(try reply.reason == "unsigned")
            #expect(server.handled.value == 0)
        }
    }

    @Test func changedItemInvalidatesEnvelope() async throws {
        try await withSignedServer { server in
            let other = envelope("/v1/echo/b".item("1"))
            let reply = try await envelope("/v1/echo/a".item("1")).send(to: server, body: other.body)
            #expect(try reply.reason == "body")
        }
    }

    @Test func requiredFieldIsCheckedPerItem() async throws {
        let field = try #require(HTTPField.Name("X-Client"))
        try await withSignedServer(rules: { $0.policy.requiredComponents.append(.field(field)) }) { server in
            var call = envelope(
                "/v1/echo/a".item("1", headers: #"[["X-Client","ios"]]"#), "/v1/echo/b".item("2"))
            call.fields[field] = "ios"
            call.covered = [.method, .authority, .path, .query, .contentDigest, .field(field)]
            let responses = try responses(try await call.send(to: server))
            #expect(responses.map { $0["status"].int } == [200, 400])
            #expect(responses[1]["body"].string?.contains("urn:runway:signature:components") == true)
        }
    }

    @Test func envelopeWithoutDigestLendsNothing() async throws {
        try await withSignedServer(rules: { $0.policy.coversBody = false }) { server in
            var call = envelope("/v1/echo/a".item("1"))
            call.covered = [.method, .authority, .path, .query]
            let responses = try responses(try await call.send(to: server))
            #expect(responses.map { $0["status"].int } == [401])
            #expect(server.handled.value == 0)
        }
    }
}
