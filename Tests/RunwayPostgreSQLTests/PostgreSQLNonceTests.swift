#if PostgreSQL
    import Foundation
    import RunwayServer
    import RunwaySignatures
    import Testing

    @testable import RunwayPostgreSQL

    /// The store of nonces over a real server, whose URL `Scripts/postgresql.sh` sets.
    struct PostgreSQLNonceTests {
        private static let url = ProcessInfo.processInfo.environment["RUNWAY_POSTGRESQL"] ?? "postgres://localhost/none"
        /// A tenant for each test.
        private let tenant = UUID().uuidString
        private let start = UnixTime(seconds: 1_790_000_000)

        private func store(perKey: Int = 1000, after seconds: Int = 0) async throws -> PostgreSQLNonceStore {
            try await PostgreSQLNonceStore(
                at: Self.url, tenant: tenant, startedAt: start + .seconds(seconds), maximumNoncesPerKey: perKey)
        }

        /// Claims a nonce that was made some seconds after the start, and is accepted for two minutes.
        private func claim(
            _ value: String, of key: String = "k", created: Int = 0, at seconds: Int? = nil,
            in store: PostgreSQLNonceStore
        ) async throws -> NonceClaim {
            let created = start + .seconds(created)
            let nonce = Nonce(value: value, keyID: key, created: created, expires: created + .seconds(120))
            return try await store.claim(nonce, at: seconds.map { start + .seconds($0) } ?? created)
        }

        @Test func nonceIsClaimedOnceByAllServers() async throws {
            let (first, second) = (try await store(), try await store(after: 50))
            let nonces = [
                ("n", "k"), ("m", "k"), ("n", "l"), ("kn", ""), ("", "kn"), ("\u{E9}", "k"), ("e\u{301}", "k"),
            ]
            for (value, key) in nonces {
                #expect(try await claim(value, of: key, in: first) == .claimed, "\(value) \(key)")
                #expect(try await claim(value, of: key, in: second) == .replayed, "\(value) \(key)")
            }
            // The memory began with the first.
            #expect(try await claim("o", created: 1, at: 50, in: second) == .claimed)
            #expect(try await claim("p", created: -1, at: 50, in: second) == .beforeStart(start))
        }

        @Test func ofManyClaimsAtOnceOneSucceeds() async throws {
            let stores = [try await store(), try await store()]
            let claims = try await withThrowingTaskGroup(of: NonceClaim.self) { group in
                for index in 0..<200 {
                    group.addTask { try await claim("n\(index % 10)", in: stores[index / 10 % 2]) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(claims.count { $0 == .claimed } == 10 && claims.count { $0 == .replayed } == 190)
        }

        @Test func keyFillsOnlyItsShareUntilNoncesExpire() async throws {
            let store = try await store(perKey: 2)
            for (value, key, claim) in [
                ("a", "k", NonceClaim.claimed), ("b", "k", .claimed), ("c", "k", .full), ("a", "k", .replayed),
                ("c", "l", .claimed),
            ] {
                #expect(try await self.claim(value, of: key, in: store) == claim)
            }
            // This removes what has expired, which is nothing yet. The next removal is due ten seconds later.
            #expect(try await claim("d", of: "l", created: 115, in: store) == .claimed)
            #expect(try await claim("c", created: 121, in: store) == .claimed)
        }

        @Test func clockSetBackAllowsNoReplay() async throws {
            let (store, other) = (try await store(), try await store())
            #expect(try await claim("a", in: store) == .claimed)
            // A claim with a clock that is ahead removes what has expired by it.
            #expect(try await claim("b", created: 3_153_600_000, in: other) == .claimed)
            #expect(try await claim("a", in: store) == .beforeMemory)
            #expect(try await claim("c", created: 1, in: store) == .claimed)
        }

        /// Servers whose clocks differ remove and claim the same nonces at the same time.
        @Test func nonceIsNotClaimedAgainDuringItsRemoval() async throws {
            let stores = [try await store(), try await store()]
            for index in 0..<50 { #expect(try await claim("n\(index)", in: stores[0]) == .claimed) }
            let claims = try await withThrowingTaskGroup(of: NonceClaim.self) { group in
                for index in 0..<50 {
                    group.addTask { try await claim("n\(index)", in: stores[0]) }
                    let later = 200 + index * 20
                    group.addTask { try await claim("later \(index)", created: later, in: stores[1]) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(claims.count { $0 == .claimed } <= 50 && claims.count { $0 == .claimed } > 0)
            for index in 0..<50 { #expect(try await claim("n\(index)", in: stores[1]) != .claimed) }
        }
    }
#endif
