/// What went wrong with a PostgreSQL database.
public struct PostgreSQLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The code of PostgreSQL, such as `40001`; empty if the server could not be reached or the connection was lost.
    public let state: String
    /// What happened, in one sentence, without values of the statement and without the password.
    public let description: String

    init(state: String, _ description: String) {
        self.state = state
        self.description = description
    }

    /// Whether the transaction had no effect, and should be tried again: `40001` (serialization failure) and `40P01` (deadlock).
    var isTransient: Bool { state == "40001" || state == "40P01" }

    /// Whether a value is not one that PostgreSQL takes (class 22): the same fails again.
    var isOfData: Bool { state.hasPrefix("22") }

    /// Whether the connection is gone, and with it what is known of a transaction.
    var isOfConnection: Bool { state.isEmpty || state.hasPrefix("08") || state.hasPrefix("57P") }
}
