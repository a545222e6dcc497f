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

        /// The same, with the reasons of refusals alone.
        public var briefOutcome: String { text(of: refusals) }

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
    /// Deviations from the expected results; empty if there are none.
    public var problems: [String] = []
}

extension SigningTourReport: CustomStringConvertible {
    /// The table, as a person reads it.
    public var description: String {
        var lines = ["— Signed calls, and attempts to pass as the app"]
        for row in rows { lines += ["    \(row.title): \(row.outcome)", "        \(row.detail)"] }
        return lines.joined(separator: "\n")
    }
}
