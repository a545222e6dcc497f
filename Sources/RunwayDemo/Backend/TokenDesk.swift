import Synchronization

/// Gives out access tokens and knows which are good. Both kinds of tokens are 128 random bits.
///
/// At most ``maximumTokens`` are known; past that the oldest are forgotten, and are unknown when they come back.
final class TokenDesk: Sendable {
    static let maximumTokens = 1000
    /// How long a token is good by itself.
    static let lifetimeSeconds = 3600

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

    /// Guards what was given out, oldest first.
    private let entries = Mutex<[Entry]>([])

    /// Gives out a token.
    func grant() -> Grant {
        let grant = Grant(accessToken: Self.makeSecret(), refreshToken: Self.makeSecret())
        entries.withLock { entries in
            if entries.count == Self.maximumTokens { entries.removeFirst() }
            entries.append(Entry(grant: grant, end: .now + .seconds(Self.lifetimeSeconds)))
        }
        return grant
    }

    /// Gives out a token for a refresh token, which is good once; nil for one that is unknown or used. The old access token ends.
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

    /// How an access token stands.
    func standing(of accessToken: String) -> Standing {
        entries.withLock { entries in
            guard let entry = entries.first(where: { $0.grant.accessToken == accessToken }) else { return .unknown }
            return entry.isExpired || entry.end <= .now ? .expired : .good
        }
    }

    /// Ends every access token that was given out so far. Refresh tokens stay good.
    func expireAll() {
        entries.withLock { entries in
            for index in entries.indices { entries[index].isExpired = true }
        }
    }

    private static func makeSecret() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
