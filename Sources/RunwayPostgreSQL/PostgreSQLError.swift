import RunwayServer

/// The error of a PostgreSQL database, or of the connection to it.
public struct PostgreSQLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The SQLSTATE code, such as `40001`; empty if the server could not be reached or the connection was lost.
    public let state: String
    /// The error in one sentence. It contains neither values of the statement nor the password.
    public let description: String

    init(state: String, _ description: String) {
        self.state = state
        self.description = description
    }

    /// Whether the transaction had no effect, and should be tried again: `40001` (serialization failure) and `40P01`
    /// (deadlock).
    var isTransient: Bool { state == "40001" || state == "40P01" }

    /// Whether PostgreSQL does not accept a value (class 22): the same statement would fail again.
    var isDataException: Bool { state.hasPrefix("22") }

    /// Whether the connection was lost, so that it is unknown whether a transaction was committed.
    var isConnectionLoss: Bool { state.isEmpty || state.hasPrefix("08") || state.hasPrefix("57P") }
}

extension PostgreSQLError: CommitError {
    /// Whether the error concerns only one element: PostgreSQL does not accept one of its values.
    package var isOfOneElement: Bool { isDataException }
}
