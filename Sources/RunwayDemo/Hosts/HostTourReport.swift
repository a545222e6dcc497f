#if Command
    public import Runway

    /// The results of a ``HostTour``: the addresses that were dialled, the winner of each step, and the reason.
    public struct HostTourReport: TourReport {
        /// One event of the tour.
        public struct Row: Sendable, Encodable {
            /// The name of the event.
            public var title: String
            /// The addresses that were dialled for the event; empty if it used an existing connection.
            public var dialled: [String]
            /// The address of the response; `nil` if there was none.
            public var won: String?
            /// The duration in milliseconds.
            public var milliseconds: Int
            /// The reason why the address won.
            public var why: String
        }

        /// A description of each address, by its number.
        public var addresses: [String: String]
        /// The events in order.
        public var rows: [Row]
        /// The records of the calls, in the order of their ends.
        public var flights: [FlightRecord]
        /// Deviations from the expected results; empty if there are none.
        public var problems: [String]

        /// The table and the records as text.
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
