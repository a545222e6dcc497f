#if Command
    import Hummingbird
    import HummingbirdCore
    import NIOCore
    import Runway
    import RunwayJSON
    import RunwayServer

    /// The routes for a user's data, `member/*`: access tokens and favourites. They use the response format of the
    /// rental team.
    struct MemberAPI: Sendable {
        static let maximumBodyByteCount = 4096
        static let folders = 1...10
        static let folderSize = 3

        let tokens: TokenDesk

        /// Responds to `POST /member/login` with a token for the user that the body names.
        func logIn(_ request: Request) async throws -> Response {
            try await Listing.Kind.rental.responding {
                _ = try await text("name", in: request)
                return try response(with: tokens.grant())
            }
        }

        /// Responds to `POST /member/token` with a token for the refresh token in the body.
        func renew(_ request: Request) async throws -> Response {
            try await Listing.Kind.rental.responding {
                guard let grant = tokens.renew(try await text("refresh_token", in: request)) else {
                    throw BackendFailure.loginRequired
                }
                return try response(with: grant)
            }
        }

        /// Responds to `GET /member/favourites` if the access token is valid. A folder contains the first rentals whose
        /// number ends in the folder's number.
        func favourites(
            _ query: QueryParameters, of catalogue: ListingCatalogue, authorization: String?
        ) throws -> Response {
            guard let authorization, authorization.hasPrefix("Bearer ") else { throw BackendFailure.loginRequired }
            switch tokens.standing(of: String(authorization.dropFirst("Bearer ".count))) {
            case .good: break
            case .expired: throw BackendFailure.tokenExpired
            case .unknown: throw BackendFailure.loginRequired
            }
            let folder = try query.integer("folder", in: Self.folders) ?? Self.folders.lowerBound
            let filed = catalogue[.rental].filter { $0.number % 10 == folder % 10 }.prefix(Self.folderSize)
            return try .json(["code": 0, "message": "", "result": ["items": .array(filed.map(\.json))]])
        }

        private func response(with grant: TokenDesk.Grant) throws -> Response {
            try .json([
                "code": 0, "message": "",
                "result": [
                    "access_token": .string(grant.accessToken), "refresh_token": .string(grant.refreshToken),
                    "expires_in": .integer(TokenDesk.lifetimeSeconds),
                ],
            ])
        }

        /// Returns a string member of the JSON object in a request's body.
        private func text(_ name: String, in request: Request) async throws -> String {
            let buffer: ByteBuffer
            do {
                buffer = try await BodyCollector.shared.collect(request.body, upTo: Self.maximumBodyByteCount)
            } catch is NIOTooManyBytesError {
                throw HTTPError(.contentTooLarge)
            }
            guard let text = RawData(Array(buffer.readableBytesView))[name].string, !text.isEmpty else {
                // The error does not repeat the received text, which may be a secret.
                throw BackendFailure.badParameter(name: "body", found: "…", expected: "an object with a \"\(name)\"")
            }
            return text
        }
    }
#endif
