#if Command
    /// The results of a ``TrainTour``: the counts of both sides.
    package struct TrainTourReport: Sendable, Encodable {
        /// The lines of the details screen without a network.
        package var screen: [String]
        /// The number of times that the app opened the details screen.
        package var openings: Int
        /// The number of requests for the details that the server received.
        package var detailRequests: Int
        /// Changes that the app made without a network.
        package var changes: Int
        /// Changes that took effect at the server.
        package var effects: Int
        /// Changes that the server received again, without a second effect.
        package var repeated: Int
        /// Deviations from the expected results; empty if there are none.
        package var problems: [String] = []
    }

    extension TrainTourReport: CustomStringConvertible {
        /// The counts as text.
        package var description: String {
            "\(openings) openings, \(detailRequests) request; \(changes) offers made, \(effects) at the server; \(repeated) was sent twice"
        }
    }
#endif
