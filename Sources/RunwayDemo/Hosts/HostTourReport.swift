#if Command
    package import Runway

    /// The results of a ``HostTour``: the addresses that were dialled, the winner of each step, and the reason.
    package struct HostTourReport: TourReport {
        /// One event of the tour.
        package struct Row: Sendable, Encodable {
            /// The name of the event.
            package var title: String
            /// The addresses that were dialled for the event; empty if it used an existing connection.
            package var dialled: [String]
            /// The address of the response; `nil` if there was none.
            package var won: String?
            /// The duration in milliseconds.
            package var milliseconds: Int
            /// The reason why the address won.
            package var why: String
        }

        /// A description of each address, by its number.
        package var addresses: [String: String]
        /// The events in order.
        package var rows: [Row]
        /// The records of the calls, in the order of their ends.
        package var flights: [FlightRecord]
        /// Deviations from the expected results; empty if there are none.
        package var problems: [String]

        /// The table and the records as text.
        package var description: String {
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
