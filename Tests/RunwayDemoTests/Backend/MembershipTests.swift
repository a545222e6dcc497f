import Foundation
import Testing

@testable import RunwayDemo

@Suite(.timeLimit(.minutes(10))) struct MembershipTests {
    @Test func favouritesWantAGoodToken() async throws {
        let backend = try ListingsBackend()
        try await withClient(of: backend) { client, _ in
            #expect(try await client.get("/member/favourites").object()["code"] as? Int == 2002)
            #expect(try await client.get("/member/favourites", token: "made-up").object()["code"] as? Int == 2002)

            let token = try await logIn(client).access
            let response = try await client.get("/member/favourites?folder=4", token: token).object()
            #expect(response["code"] as? Int == 0)
            let items = try #require((response["result"] as? [String: Any])?["items"] as? [[String: Any]])
            #expect(items.compactMap { $0["zf_id"] as? Int } == [2_000_004, 2_000_014, 2_000_024])

            backend.tokens.expireAll()
            #expect(try await client.get("/member/favourites", token: token).object()["code"] as? Int == 2001)
        }
    }

    @Test func refreshTokenWorksOnceAndEndsOldToken() async throws {
        try await withClient(of: ListingsBackend()) { client, _ in
            let old = try await logIn(client)
            let body = #"{"refresh_token":"\#(old.refresh)"}"#
            let renewed = try token(try await client.post("/member/token", body).object())
            #expect(renewed.access != old.access)
            #expect(try await client.get("/member/favourites", token: renewed.access).object()["code"] as? Int == 0)
            #expect(try await client.get("/member/favourites", token: old.access).object()["code"] as? Int == 2001)
            #expect(try await client.post("/member/token", body).object()["code"] as? Int == 2002)
        }
    }

    @Test(arguments: ["", "[]", #"{"name":7}"#, #"{"name":""}"#, "{"])
    func loginThatCannotBeReadGetsNoToken(body: String) async throws {
        try await withClient(of: ListingsBackend()) { client, _ in
            let response = try await client.post("/member/login", body).object()
            #expect(response["code"] as? Int == 1002)
        }
    }

    @Test func aLoginThatIsTooLargeIsRefused() async throws {
        try await withClient(of: ListingsBackend()) { client, _ in
            let name = String(repeating: "x", count: MemberAPI.maximumBodyByteCount)
            let response = try await client.post("/member/login", #"{"name":"\#(name)"}"#)
            #expect(response.status == 413)
        }
    }

    @Test func theOldestTokensAreForgottenPastTheBound() {
        let desk = TokenDesk()
        let first = desk.grant()
        for _ in 1..<TokenDesk.maximumTokens { _ = desk.grant() }
        #expect(desk.standing(of: first.accessToken) == .good)
        _ = desk.grant()
        #expect(desk.standing(of: first.accessToken) == .unknown)
    }

    private func logIn(_ client: BackendClient) async throws -> (access: String, refresh: String) {
        try token(try await client.post("/member/login", #"{"name":"mei"}"#).object())
    }

    private func token(_ response: [String: Any]) throws -> (access: String, refresh: String) {
        let result = try #require(response["result"] as? [String: Any])
        return (try #require(result["access_token"] as? String), try #require(result["refresh_token"] as? String))
    }
}
