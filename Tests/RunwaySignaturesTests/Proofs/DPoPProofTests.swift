import Crypto
import HTTPTypes
import Testing

@testable import RunwaySignatures

/// Proofs of possession, by the examples of RFC 9449 and by deviations from what it requires.
struct DPoPProofTests {
    private static let header =
        "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6Ik"
        + "VDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCR"
        + "nMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JE" + "QSIsImNydiI6IlAtMjU2In19"
    /// RFC 9449 §4.1: a request for a token.
    private static let tokenProof =
        header + ".eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIj"
        + "oiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwia"
        + "WF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg"
        + "4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg"
    /// RFC 9449 §7.1: a request with a token.
    private static let resourceProof =
        header + ".eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIj"
        + "oiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0Z"
        + "WRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNF"
        + "c05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71E"
        + "OptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA"
    private static let token = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"
    /// RFC 9449 §6.1.
    private static let thumbprint = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
    private static let now = UnixTime(seconds: 1_562_262_620)

    private func request(_ method: HTTPRequest.Method, _ authority: String, _ path: String, _ proof: String...)
        -> HTTPRequest
    {
        var request = HTTPRequest(method: method, scheme: "https", authority: authority, path: path)
        for proof in proof { request.headerFields.append(HTTPField(name: .dpop, value: proof)) }
        return request
    }

    private func reason(
        _ request: HTTPRequest, token: String? = nil, boundTo thumbprint: String? = nil,
        by rules: DPoPRules = DPoPRules(),
        at time: UnixTime = now
    ) -> DPoPRefusal? {
        do throws(DPoPRefusal) {
            _ = try DPoPProof(of: request, token: token, boundTo: thumbprint, by: rules, at: time)
            return nil
        } catch {
            return error
        }
    }

    @Test func examplesOfTheStandardAreVerified() throws {
        let first = try DPoPProof(of: request(.post, "server.example.com", "/token", Self.tokenProof), at: Self.now)
        #expect(first.keyThumbprint == Self.thumbprint && first.claims.id == "-BwC3ESc6acc2lTc")
        let second = try DPoPProof(
            of: request(.get, "resource.example.org", "/protectedresource", Self.resourceProof), token: Self.token,
            boundTo: Self.thumbprint, at: Self.now)
        #expect(second.claims.tokenHash == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
        #expect(second.claims.issued == UnixTime(seconds: 1_562_262_618))
    }

    @Test func targetsAreNormalised() {
        for (authority, path) in [
            ("server.example.com:443", "/token"), ("SERVER.example.com", "/token?a=1"),
            ("server.example.com", "/%74oken"),
        ] { #expect(reason(request(.post, authority, path, Self.tokenProof)) == nil, "\(authority)\(path)") }
        for (authority, path) in [
            ("server.example.com:8443", "/token"), ("server.example.com", "/token/"), ("server.example.com", "/Token"),
            ("other.example.com", "/token"),
        ] { #expect(reason(request(.post, authority, path, Self.tokenProof)) == .otherRequest, "\(authority)\(path)") }
        #expect(reason(request(.get, "server.example.com", "/token", Self.tokenProof)) == .otherRequest)
    }

    @Test func oneProofIsRequired() {
        let (host, path) = ("server.example.com", "/token")
        #expect(reason(request(.post, host, path)) == .malformed)
        #expect(reason(request(.post, host, path, Self.tokenProof, Self.tokenProof)) == .malformed)
        let long = String(repeating: "a", count: 9_000)
        for text in ["", "..", "a.b.c", Self.tokenProof + ".", "\(Self.tokenProof)=", long] {
            #expect(reason(request(.post, host, path, text)) == .malformed, "\(text.prefix(60))")
        }
    }

    @Test func timeOfAProofIsBounded() {
        let request = request(.post, "server.example.com", "/token", Self.tokenProof)
        for (seconds, isIn) in [(-31, false), (-30, true), (120, true), (121, false)] as [(Int64, Bool)] {
            let time = UnixTime(seconds: 1_562_262_616 + seconds)
            #expect(reason(request, at: time) == (isIn ? nil : .outsideWindow), "\(seconds)")
        }
    }

    @Test func tokenAndKeyAreBound() {
        let resource = request(.get, "resource.example.org", "/protectedresource", Self.resourceProof)
        #expect(reason(resource, token: Self.token + "x", boundTo: Self.thumbprint) == .otherToken)
        #expect(reason(resource) == .otherToken)
        #expect(reason(resource, token: Self.token, boundTo: "another") == .otherKey)
        let login = request(.post, "server.example.com", "/token", Self.tokenProof)
        #expect(reason(login, token: Self.token) == .otherToken)
    }

    @Test func changedProofsAreRefused() {
        let base = Array(Self.resourceProof.utf8)
        for index in base.indices where base[index] != UInt8(ascii: ".") {
            var changed = base
            changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            if changed == base { continue }
            let text = String(decoding: changed, as: UTF8.self)
            let request = request(.get, "resource.example.org", "/protectedresource", text)
            #expect(reason(request, token: Self.token, boundTo: Self.thumbprint) != nil, "place \(index)")
        }
    }

    /// A proof whose header is as a test says, with a valid signature.
    private func proof(header: (String) -> String) throws -> HTTPRequest {
        let key = P256.Signing.PrivateKey()
        let jwk = PublicKeyJWK(point: key.publicKey.x963Representation).canonicalJSON
        let payload = #"{"jti":"1","htm":"GET","htu":"https://a.example/","iat":\#(Self.now.seconds)}"#
        let signed = [header(jwk), payload].map { Base64.encodedForURL($0.utf8) }.joined(separator: ".")
        let signature = try key.signature(for: Array(signed.utf8)).rawRepresentation
        return request(.get, "a.example", "/", "\(signed).\(Base64.encodedForURL(signature))")
    }

    @Test func onlyKnownHeadersAreAccepted() throws {
        #expect(try reason(proof { #"{"typ":"dpop+jwt","alg":"ES256","jwk":\#($0)}"# }) == nil)
        let bad: [(String) -> String] = [
            { #"{"typ":"jwt","alg":"ES256","jwk":\#($0)}"# }, { #"{"typ":"dpop+jwt","alg":"none","jwk":\#($0)}"# },
            { #"{"typ":"dpop+jwt","alg":"HS256","jwk":\#($0)}"# },
            { #"{"typ":"dpop+jwt","alg":"ES256","crit":["b64"],"jwk":\#($0)}"# },
            { #"{"typ":"dpop+jwt","alg":"ES256","jwk":\#($0.dropLast()),"d":"AA"}}"# },
            { #"{"typ":"dpop+jwt","alg":"ES256","jwk":\#($0.replacing("P-256", with: "P-384"))}"# },
            { _ in #"{"typ":"dpop+jwt","alg":"ES256"}"# },
        ]
        for (number, header) in bad.enumerated() {
            #expect(try reason(proof(header: header)) == .malformed, "\(number)")
        }
    }

    @Test func ownProofsAreVerifiedWithNonces() async throws {
        var rules = DPoPRules()
        rules.nonces = ServerNonces()
        let key = P256.Signing.PrivateKey()
        let point = Array(key.publicKey.x963Representation)
        var request = request(.put, "a.example", "/x?y=1")
        func send(nonce: String?, at time: UnixTime) async throws -> DPoPRefusal? {
            // The client's clock is a year off: the nonce has the server's.
            let claims = try DPoPClaims(request, token: "t", nonce: nonce, at: time + .seconds(31_536_000))
            request.headerFields[.dpop] = try await claims.proof(by: SigningKey.p256(key), publicKey: point)
            let jkt = PublicKeyJWK(point: point).thumbprint
            return reason(request, token: "t", boundTo: jkt, by: rules, at: time)
        }
        #expect(try await send(nonce: nil, at: Self.now) == .needsNonce)
        let nonce = try #require(rules.issueNonce(at: Self.now))
        #expect(try await send(nonce: nonce, at: Self.now) == nil)
        #expect(try await send(nonce: nonce, at: Self.now + .seconds(121)) == .needsNonce)
        #expect(try await send(nonce: ServerNonces().issue(at: Self.now), at: Self.now) == .needsNonce)
        #expect(try await send(nonce: rules.nonces?.issue(at: Self.now), at: Self.now) == .needsNonce)
    }

    @Test func replayedProofIsClaimedOnce() throws {
        let nonces = NonceMemory(startedAt: UnixTime(seconds: 0))
        let proof = try DPoPProof(of: request(.post, "server.example.com", "/token", Self.tokenProof), at: Self.now)
        #expect(nonces.claim(proof.replay, at: Self.now) == .claimed)
        #expect(nonces.claim(proof.replay, at: Self.now + .seconds(100)) == .replayed)
    }
}
