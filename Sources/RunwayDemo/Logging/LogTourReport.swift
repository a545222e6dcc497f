#if Command
    /// The results of a ``LogTour``: the counts of both sides.
    public struct LogTourReport: Sendable, Encodable {
        /// Actions that the app recorded in both of its runs.
        public var recorded: Int
        /// Actions that the server has.
        public var stored: Int
        /// Requests that the server received, each with a batch of actions.
        public var requests: Int
        /// Actions that the server received again, and did not store again.
        public var repeated: Int
        /// Deviations from the expected results; empty if there are none.
        public var problems: [String] = []
    }

    extension LogTourReport: CustomStringConvertible {
        /// The counts, as a person reads them.
        public var description: String {
            "\(recorded) recorded, \(stored) at the server; \(repeated) were sent twice"
        }
    }
#endif
