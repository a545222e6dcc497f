import RunwayServer

/// An error that a PostgreSQL server reported, or a failure of the connection to it.
public struct PostgreSQLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The SQLSTATE code, such as `40001`; empty if the server could not be reached or the connection was lost.
    public let state: String
    /// The error in one sentence. It contains neither values of the statement nor the password.
    public let description: String

    init(state: String, _ description: String) {
        self.state = state
        self.description = description
    }

    /// Whether the transaction had no effect and should be retried: `40001` (serialization failure) or `40P01`
    /// (deadlock).
    var isTransient: Bool { state == "40001" || state == "40P01" }

    /// Whether PostgreSQL does not accept a value (class 22). A retry would fail again.
    var isDataException: Bool { state.hasPrefix("22") }

    /// Whether the connection was lost. The transaction may or may not have been committed.
    var isConnectionLoss: Bool { state.isEmpty || state.hasPrefix("08") || state.hasPrefix("57P") }
}

extension PostgreSQLError: CommitError {
    /// Whether the error concerns only one element of a common transaction, since PostgreSQL does not accept one of its
    /// values.
    package var isOfOneElement: Bool { isDataException }
}
