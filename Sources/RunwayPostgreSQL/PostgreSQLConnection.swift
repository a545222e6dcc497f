#if PostgreSQL
    import Foundation
    import RunwayLibPQ

    /// One connection. Only one thread may use it at a time, and all functions block.
    final class PostgreSQLConnection {
        let connection: OpaquePointer

        /// Timeouts for a server that does not respond, as libpq parameters. Connecting may take 10 s. After about one
        /// minute, unacknowledged bytes or silence mean that the connection is lost.
        private static let waits = [
            ("connect_timeout", "10"), ("tcp_user_timeout", "60000"), ("keepalives_idle", "30"),
            ("keepalives_interval", "10"), ("keepalives_count", "3"),
        ]
        /// The maximum time for which the server runs a statement or waits for a lock, in milliseconds.
        private static let statementTimeout = "60000"
        /// The maximum time for which the server holds the locks of a transaction whose client is silent, in
        /// milliseconds. Otherwise, a client that lost its power could lock rows for hours.
        private static let idleTimeout = "60000"

        /// Makes the server confirm a commit only when it is on the drive. Every value except `off` has this effect.
        private static let durability = """
            SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
            """

        /// Connects. Timeouts in the URL, including those in its `options`, take precedence over the timeouts set here.
        /// If `synchronous_commit` is off, it is turned on, wherever it was set.
        ///
        /// - Throws: ``PostgreSQLError``, without libpq's text, which may contain parts of the URL.
        init(to url: String) throws(PostgreSQLError) {
            guard let connection = Self.connect(to: url) else {
                throw PostgreSQLError(state: "", "There is no memory.")
            }
            guard PQstatus(connection) == CONNECTION_OK else {
                PQfinish(connection)
                throw PostgreSQLError(state: "", "The PostgreSQL server can't be reached, or refuses the user.")
            }
            self.connection = connection
            // By default, libpq prints notices to standard error, such as that a table exists.
            PQsetNoticeProcessor(connection, { _, _ in }, nil)
            if !url.contains("statement_timeout") { try run("SET statement_timeout = \(Self.statementTimeout)") }
            if !url.contains("idle_in_transaction_session_timeout") {
                try run("SET idle_in_transaction_session_timeout = \(Self.idleTimeout)")
            }
            try run(Self.durability)
        }

        /// Later parameters replace earlier ones, so the URL comes last.
        private static func connect(to url: String) -> OpaquePointer? {
            let parameters = waits + [("dbname", url)]
            var names: [UnsafeMutablePointer<CChar>?] = parameters.map { strdup($0.0) } + [nil]
            var values: [UnsafeMutablePointer<CChar>?] = parameters.map { strdup($0.1) } + [nil]
            defer { for text in names + values { free(text) } }
            return names.withUnsafeMutableBufferPointer { names in
                values.withUnsafeMutableBufferPointer { values in
                    names.withMemoryRebound(to: UnsafePointer<CChar>?.self) { names in
                        values.withMemoryRebound(to: UnsafePointer<CChar>?.self) { values in
                            PQconnectdbParams(names.baseAddress, values.baseAddress, 1)
                        }
                    }
                }
            }
        }

        deinit { PQfinish(connection) }

        /// Runs a statement with parameters as text, and returns the rows.
        ///
        /// - Throws: ``PostgreSQLError``, with state `22021` for a parameter that contains U+0000, which would end
        ///   libpq's text.
        @discardableResult
        func run(_ statement: String, _ parameters: [String?] = []) throws(PostgreSQLError) -> [[String?]] {
            guard !parameters.contains(where: { $0?.utf8.contains(0) ?? false }) else {
                throw PostgreSQLError(state: "22021", "PostgreSQL has no text with the character U+0000.")
            }
            var values: [UnsafeMutablePointer<CChar>?] = parameters.map { $0.flatMap { strdup($0) } }
            defer { for value in values { free(value) } }
            let result = values.withUnsafeMutableBufferPointer { values in
                values.withMemoryRebound(to: UnsafePointer<CChar>?.self) { values in
                    PQexecParams(connection, statement, Int32(values.count), nil, values.baseAddress, nil, nil, 0)
                }
            }
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK: break
            default: throw PostgreSQLError(of: result)
            }
            return (0..<PQntuples(result)).map { row in
                (0..<PQnfields(result)).map { column in
                    PQgetisnull(result, row, column) == 1 ? nil : String(cString: PQgetvalue(result, row, column))
                }
            }
        }
    }

    extension PostgreSQLError {
        static let connectionLoss = PostgreSQLError(state: "", "The connection to the PostgreSQL server is lost.")

        /// Reads the error of a failed statement.
        init(of result: OpaquePointer?) {
            // "C" is PG_DIAG_SQLSTATE, a macro that Swift does not import.
            let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) } ?? ""
            self = state.isEmpty ? .connectionLoss : PostgreSQLError(state: state, "PostgreSQL reports \(state).")
        }
    }

    extension [UInt8] {
        /// The bytes as a statement parameter of type `bytea`.
        var bytea: String {
            var text = Array("\\x".utf8)
            text.reserveCapacity(2 + count * 2)
            let digits = Array("0123456789abcdef".utf8)
            for byte in self {
                text.append(digits[Int(byte >> 4)])
                text.append(digits[Int(byte & 15)])
            }
            return String(decoding: text, as: UTF8.self)
        }

        /// Parses a value of type `bytea`. Returns `nil` if the text is malformed.
        init?(bytea text: String) {
            guard text.hasPrefix("\\x"), text.utf8.count.isMultiple(of: 2) else { return nil }
            var bytes: [UInt8] = []
            var high: UInt8?
            for character in text.dropFirst(2) {
                guard let digit = character.hexDigitValue.map(UInt8.init) else { return nil }
                if let first = high {
                    bytes.append(first << 4 | digit)
                    high = nil
                } else {
                    high = digit
                }
            }
            self = bytes
        }
    }
#endif
