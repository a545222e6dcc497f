#if Command
    import Foundation
    import HTTPTypes
    import Runway
    import RunwayJSON

    struct MemberLogin: Endpoint {
        static let service = MemberService.self
        static let method = HTTPRequest.Method.post
        static let authorization = AuthorizationPolicy.none
        var path: EndpointPath { "member/login" }
        var name: String
    }

    struct MemberToken: Endpoint {
        static let service = MemberService.self
        static let method = HTTPRequest.Method.post
        static let authorization = AuthorizationPolicy.none
        var path: EndpointPath { "member/token" }
        var refresh_token: String
    }

    struct Favourites: Endpoint {
        static let service = MemberService.self
        var path: EndpointPath { "member/favourites" }
        var folder: Int
        var delay: Int?

        enum CodingKeys: String, CodingKey {
            case folder
            case delay = "delay_ms"
        }
    }

    /// The access token of an account, for the calls of ``MemberService``.
    struct MemberCredentials: Credentials {
        func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken {
            let response = try await network.call(MemberToken(refresh_token: token.refreshToken ?? ""))
            return try AccessToken(response, account: token.account, on: network)
        }
    }

    extension AccessToken {
        /// Decodes the token from the response to a login or a renewal.
        init(_ response: RawData, account: String, on network: NetworkLayer) throws {
            let result = response["result"]
            self.init(
                try result["access_token"].require(), account: account,
                expiry: network.clock.date.addingTimeInterval(try result["expires_in"].require()),
                refreshToken: try result["refresh_token"].require())
        }
    }
#endif
