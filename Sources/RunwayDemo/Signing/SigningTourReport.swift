#if Command
    package import Runway

    /// The results of a ``SigningTour``: which calls the server accepted, and the reasons for its refusals.
    package struct SigningTourReport: TourReport {
        /// One attempt to be accepted by the server.
        package struct Row: Sendable, Encodable {
            /// The attempt in words: a short title, a colon, and details.
            package var title: String
            /// The refusals of requests: the status, and the reason in one word.
            package var refusals: [String]
            /// The number of requests that were accepted.
            package var accepted: Int
            /// The fact that the app learned, in words.
            package var detail: String

            /// The outcome in a few words.
            package var outcome: String { text(of: refusals.map { "refused: \($0)" }) }

            /// The outcome in fewer words: a refusal is its status and the problem.
            package var briefOutcome: String { text(of: refusals.map { Self.briefTexts[$0] ?? $0 }) }

            private static let briefTexts = [
                "401 invalid": "401 wrong signature", "401 replayed": "401 seen before", "400 body": "400 body changed",
                "401 tooOld": "401 too old",
            ]

            private func text(of refusals: [String]) -> String {
                let accepted = accepted == 0 ? [] : [accepted == 1 ? "accepted" : "all \(accepted) accepted"]
                return (refusals + accepted).joined(separator: ", then ")
            }
        }

        /// The attempts in order.
        package var rows: [Row] = []
        /// Calls that the app and others made.
        package var calls = 0
        /// Requests that these calls sent.
        package var requests = 0
        /// The records of the calls, in the order of their ends.
        package var flights: [FlightRecord] = []
        /// Deviations from the expected results; empty if there are none.
        package var problems: [String] = []

        /// The table and the records as text.
        package var description: String {
            var lines = ["— Signed calls, and attempts to pass as the app"]
            for row in rows { lines += ["    \(row.title): \(row.outcome)", "        \(row.detail)"] }
            lines += ["", "— Every call of the app and of others, its decisions and its duration"]
            return (lines + flights.map(\.description)).joined(separator: "\n")
        }
    }
#endif
