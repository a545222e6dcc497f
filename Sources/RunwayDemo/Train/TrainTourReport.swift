#if Command
    /// The results of a ``TrainTour``: the counts of both sides.
    public struct TrainTourReport: Sendable, Encodable {
        /// What the details screen showed without a network.
        public var screen: [String]
        /// How often the app opened the details screen.
        public var openings: Int
        /// How often the server was asked for it.
        public var detailRequests: Int
        /// Changes that the app made without a network.
        public var changes: Int
        /// Changes that took effect at the server.
        public var effects: Int
        /// Changes that came to the server again, and had no second effect.
        public var repeated: Int
        /// Deviations from the expected results; empty if there are none.
        public var problems: [String] = []
    }

    extension TrainTourReport: CustomStringConvertible {
        /// The counts, as a person reads them.
        public var description: String {
            "\(openings) openings, \(detailRequests) request; \(changes) offers made, \(effects) at the server; \(repeated) was sent twice"
        }
    }
#endif
