#if Command
    import Foundation
    import HTTPTypes
    import Hummingbird
    import HummingbirdCore
    import NIOCore
    import RunwayServer

    /// The API of a user's data, `member/*`: access tokens and favourites. Errors are the rental team's, in an envelope
    /// like theirs: status 200, and `code` and `message` inside.
    struct MemberAPI: Sendable {
        /// The largest body that is read.
        static let maximumBodyByteCount = 4096
        /// The numbers of a member's folders.
        static let folders = 1...10
        /// The number of rentals in a folder.
        static let folderSize = 3

        let book: ListingBook
        let tokens: TokenDesk

        private struct Envelope<Result: Encodable>: Encodable {
            var code = 0
            var message = ""
            let result: Result
        }

        private struct Token: Encodable {
            let access_token: String
            let refresh_token: String
            let expires_in = TokenDesk.lifetimeSeconds

            init(_ grant: TokenDesk.Grant) {
                access_token = grant.accessToken
                refresh_token = grant.refreshToken
            }
        }

        private struct List: Encodable {
            let items: [RentalItem]
        }

        /// Responds to `POST /member/login` with a token for the named user.
        func logIn(_ request: Request) async throws -> Response {
            try await respond {
                struct Login: Decodable { let name: String }
                let name = try await body(of: request, as: Login.self, expected: "an object with a \"name\"").name
                guard !name.isEmpty else {
                    throw BackendFailure.badParameter(name: "name", found: "", expected: "a name")
                }
                return try .json(Envelope(result: Token(tokens.grant())))
            }
        }

        /// Responds to `POST /member/token` with a token for a refresh token.
        func renew(_ request: Request) async throws -> Response {
            try await respond {
                struct Renewal: Decodable { let refresh_token: String }
                let renewal = try await body(
                    of: request, as: Renewal.self, expected: "an object with a \"refresh_token\"")
                guard let grant = tokens.renew(renewal.refresh_token) else { throw BackendFailure.loginRequired }
                return try .json(Envelope(result: Token(grant)))
            }
        }

        /// Responds to `GET /member/favourites`, if the token is valid: with the first rentals whose number ends in the
        /// folder's number.
        func favourites(_ query: QueryParameters, authorization: String?) throws -> Response {
            do {
                try check(authorization)
                let folder = try query.integer("folder", in: Self.folders) ?? Self.folders.lowerBound
                let filed = book.catalogue.rentals.filter { $0.number % 10 == folder % 10 }.prefix(Self.folderSize)
                return try .json(Envelope(result: List(items: filed.map(RentalItem.init))))
            } catch let failure as BackendFailure {
                return try RentalAPI(book: book).respond(to: failure)
            }
        }

        /// The delay of a response; an invalid value is no delay.
        func delay(_ query: QueryParameters) -> Duration {
            (try? query.delay(default: 0)) ?? .zero
        }

        private func check(_ authorization: String?) throws(BackendFailure) {
            guard let authorization, authorization.hasPrefix("Bearer ") else { throw .loginRequired }
            switch tokens.standing(of: String(authorization.dropFirst("Bearer ".count))) {
            case .good: return
            case .expired: throw .tokenExpired
            case .unknown: throw .loginRequired
            }
        }

        private func respond(_ body: () async throws -> Response) async throws -> Response {
            do {
                return try await body()
            } catch let failure as BackendFailure {
                return try RentalAPI(book: book).respond(to: failure)
            }
        }

        private func body<Body: Decodable>(
            of request: Request, as type: Body.Type, expected: String
        ) async throws -> Body {
            let buffer: ByteBuffer
            do {
                buffer = try await BodyCollector.shared.collect(request.body, upTo: Self.maximumBodyByteCount)
            } catch is NIOTooManyBytesError {
                throw HTTPError(.contentTooLarge)
            }
            do {
                return try JSONDecoder().decode(type, from: Data(buffer.readableBytesView))
            } catch {
                // The sent text may be a secret, and is not repeated.
                throw BackendFailure.badParameter(name: "body", found: "…", expected: expected)
            }
        }
    }
#endif
