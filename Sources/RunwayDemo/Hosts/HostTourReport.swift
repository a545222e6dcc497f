#if Command
    public import Runway

    /// The results of a ``HostTour``: which addresses were dialled, which one won, and why.
    public struct HostTourReport: Sendable, Encodable {
        /// One thing that happened.
        public struct Row: Sendable, Encodable {
            /// What happened.
            public var title: String
            /// The addresses that were dialled for it; empty if it used an existing connection.
            public var dialled: [String]
            /// The address of the response; `nil` if there was none.
            public var won: String?
            /// How long it took, in milliseconds.
            public var milliseconds: Int
            /// Why that one won.
            public var why: String
        }

        /// How each address is, by its number and in words.
        public var addresses: [String: String]
        /// What happened, in order.
        public var rows: [Row]
        /// The records of the calls, in the order of their ends.
        public var flights: [FlightRecord]
        /// Deviations from the expected results; empty if there are none.
        public var problems: [String]
    }

    extension HostTourReport: CustomStringConvertible {
        /// The table and the records, as a person reads them.
        public var description: String {
            var lines = ["— One host, four addresses"]
            lines += addresses.sorted { $0.key < $1.key }.map { "    \($0.key)  \($0.value)" }
            for row in rows {
                let dialled = row.dialled.isEmpty ? "nothing" : row.dialled.joined(separator: ", ")
                lines += [
                    "", "  \(row.title)", "    dialled  \(dialled)",
                    "    won      \(row.won ?? "none"), after \(row.milliseconds) ms", "    why      \(row.why)",
                ]
            }
            lines += ["", "— Every call to the host, its decisions and its duration"]
            return (lines + flights.map(\.description)).joined(separator: "\n")
        }
    }
#endif
