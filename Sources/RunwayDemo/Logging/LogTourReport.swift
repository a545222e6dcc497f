#if Command
    /// The results of a ``LogTour``: the counts of both sides.
    package struct LogTourReport: Sendable, Encodable {
        /// Actions that the app recorded in both of its runs.
        package var recorded: Int
        /// Actions that the server has.
        package var stored: Int
        /// Requests that the server received, each with a batch of actions.
        package var requests: Int
        /// Actions that the server received again, and did not store again.
        package var repeated: Int
        /// Deviations from the expected results; empty if there are none.
        package var problems: [String] = []
    }

    extension LogTourReport: CustomStringConvertible {
        /// The counts, as a person reads them.
        package var description: String {
            "\(recorded) recorded, \(stored) at the server; \(repeated) were sent twice"
        }
    }
#endif
