import Testing

@testable import RunwayPostgreSQL

/// The rules by which a distributed PostgreSQL takes the statements, which run on one machine here.
struct StatementTests {
    private static let all =
        ActionLogStatements.all + ChatStatements.all + EventLogStatements.all + IdempotencyStatements.all
        + NonceStatements.all + PresenceStatements.all + SyncStatements.all

    @Test(arguments: all)
    func tenantLeadsEveryKeyAndPredicate(_ statement: String) {
        let text = statement.replacing("\n", with: " ")
        for key in text.matches(of: /(?:PRIMARY KEY|ON CONFLICT|runway_\w+) \((\w+)/) {
            #expect(key.1 == "tenant", "\(text)")
        }
        for predicate in text.matches(of: /WHERE (\w+ \S+ \S+)/)
        where !text.hasPrefix("CREATE INDEX") { #expect(predicate.1 == "tenant = $1", "\(text)") }
        // A new column has no key, and concerns no row.
        let addsColumn = text.wholeMatch(of: /ALTER TABLE runway_\w+ ADD COLUMN IF NOT EXISTS \w+ \w+/) != nil
        let hasTenant = text.contains("(tenant") || text.contains("WHERE tenant = $1")
        #expect(hasTenant || addsColumn, "\(text)")
        if text.contains("GROUP BY") { #expect(text.contains("GROUP BY tenant,")) }
    }

    @Test(arguments: all)
    func noStatementNeedsASequenceOrTableLock(_ statement: String) {
        let words = [
            "serial", "identity", "sequence", "nextval", "lock table", "trigger", "references", "unique", "join",
        ]
        for word in words { #expect(!statement.lowercased().contains(word), "\(statement)") }
    }

    @Test(arguments: SyncStatements.all)
    func spaceFollowsTheTenantInEveryKey(_ statement: String) {
        let text = statement.replacing("\n", with: " ")
        for key in text.matches(of: /(?:PRIMARY KEY|ON CONFLICT|runway_\w+) \(tenant(?: text NOT NULL)?, (\w+)/) {
            #expect(key.1 == "space", "\(text)")
        }
        // Only the list of spaces concerns several spaces.
        for table in text.matches(of: /FROM runway_\w+ WHERE tenant = \$1 AND (space = \$2)?/)
        where statement != SyncStatements.spaces { #expect(table.1 != nil, "\(text)") }
    }

    @Test func insertionHasARowForEachRecord() {
        let text = ActionLogStatements.insertion(of: 1000)
        #expect(text.matches(of: /::bytea/).count == 1000)
        #expect(text.contains("$4007::bytea, $7)") && !text.contains("$4008"))
    }

    @Test func onlyConflictsAreTriedAgain() {
        for (state, isTransient, isConnectionLoss) in [
            ("40001", true, false), ("40P01", true, false), ("23505", false, false), ("", false, true),
            ("57P01", false, true), ("08006", false, true),
        ] {
            let error = PostgreSQLError(state: state, "")
            #expect(
                error.isTransient == isTransient && error.isConnectionLoss == isConnectionLoss && !error.isDataException
            )
        }
    }
}
