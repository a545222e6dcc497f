#if Command
    /// The results of a ``TrainTour``: the counts of both sides.
    public struct TrainTourReport: Sendable, Encodable {
        /// The lines of the details screen without a network.
        public var screen: [String]
        /// The number of times that the app opened the details screen.
        public var openings: Int
        /// The number of requests for the details that the server received.
        public var detailRequests: Int
        /// Changes that the app made without a network.
        public var changes: Int
        /// Changes that took effect at the server.
        public var effects: Int
        /// Changes that the server received again, without a second effect.
        public var repeated: Int
        /// Deviations from the expected results; empty if there are none.
        public var problems: [String] = []
    }

    extension TrainTourReport: CustomStringConvertible {
        /// The counts as text.
        public var description: String {
            "\(openings) openings, \(detailRequests) request; \(changes) offers made, \(effects) at the server; \(repeated) was sent twice"
        }
    }
#endif
