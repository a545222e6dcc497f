#if Command
    import Synchronization

    /// Issues and verifies access tokens. Access tokens and refresh tokens have 128 random bits.
    ///
    /// At most ``maximumTokens`` are stored. Beyond that, the oldest are removed and become unknown.
    final class TokenDesk: Sendable {
        static let maximumTokens = 1000
        static let lifetimeSeconds: Int64 = 3600

        struct Grant: Sendable, Equatable {
            let accessToken: String
            let refreshToken: String
        }

        enum Standing: Sendable, Equatable {
            case good, expired, unknown
        }

        private struct Entry {
            let grant: Grant
            let end: ContinuousClock.Instant
            var isExpired = false
            var isRenewed = false
        }

        /// Guards the issued tokens, oldest first.
        private let entries = Mutex<[Entry]>([])

        func grant() -> Grant {
            let grant = Grant(accessToken: Self.makeSecret(), refreshToken: Self.makeSecret())
            entries.withLock { entries in
                if entries.count == Self.maximumTokens { entries.removeFirst() }
                entries.append(Entry(grant: grant, end: .now + .seconds(Self.lifetimeSeconds)))
            }
            return grant
        }

        /// Issues a token for a refresh token, and ends the old access token. A refresh token can be used once. Returns
        /// `nil` if it is unknown or was used.
        func renew(_ refreshToken: String) -> Grant? {
            let isGood = entries.withLock { entries in
                guard let index = entries.firstIndex(where: { $0.grant.refreshToken == refreshToken }),
                    !entries[index].isRenewed
                else { return false }
                entries[index].isRenewed = true
                entries[index].isExpired = true
                return true
            }
            return isGood ? grant() : nil
        }

        func standing(of accessToken: String) -> Standing {
            entries.withLock { entries in
                guard let entry = entries.first(where: { $0.grant.accessToken == accessToken }) else { return .unknown }
                return entry.isExpired || entry.end <= .now ? .expired : .good
            }
        }

        /// Ends every access token issued so far. Refresh tokens stay valid.
        func expireAll() {
            entries.withLock { entries in
                for index in entries.indices { entries[index].isExpired = true }
            }
        }

        private static func makeSecret() -> String {
            (0..<32).map { _ in String(UInt8.random(in: 0...15), radix: 16) }.joined()
        }
    }
#endif
