#if Command
    public import Runway

    /// The results of a ``SigningTour``: which calls the server accepted, and why it refused the others.
    public struct SigningTourReport: Sendable, Encodable {
        /// One thing that was tried.
        public struct Row: Sendable, Encodable {
            /// What was tried: a few words, a colon, and more of it.
            public var title: String
            /// Why requests were refused: the status, and the reason in one word.
            public var refusals: [String]
            /// How many requests were accepted.
            public var accepted: Int
            /// What the app learned, in words.
            public var detail: String

            /// What became of it, in a few words.
            public var outcome: String { text(of: refusals.map { "refused: \($0)" }) }

            /// The same in fewer words: a refusal is its status and what was wrong.
            public var briefOutcome: String { text(of: refusals.map { Self.briefTexts[$0] ?? $0 }) }

            private static let briefTexts = [
                "401 invalid": "401 wrong signature", "401 replayed": "401 seen before", "400 body": "400 body changed",
                "401 tooOld": "401 too old",
            ]

            private func text(of refusals: [String]) -> String {
                let accepted = accepted == 0 ? [] : [accepted == 1 ? "accepted" : "all \(accepted) accepted"]
                return (refusals + accepted).joined(separator: ", then ")
            }
        }

        /// What was tried, in order.
        public var rows: [Row] = []
        /// Calls that the app and others made.
        public var calls = 0
        /// Requests that they sent.
        public var requests = 0
        /// The records of those calls, in the order of their ends.
        public var flights: [FlightRecord] = []
        /// Deviations from the expected results; empty if there are none.
        public var problems: [String] = []
    }

    extension SigningTourReport: CustomStringConvertible {
        /// The table and the records, as a person reads them.
        public var description: String {
            var lines = ["— Signed calls, and attempts to pass as the app"]
            for row in rows { lines += ["    \(row.title): \(row.outcome)", "        \(row.detail)"] }
            lines += ["", "— Every call of the app and of others, its decisions and its duration"]
            return (lines + flights.map(\.description)).joined(separator: "\n")
        }
    }
#endif
