#if Command
    /// The results of a ``ChatTour``: the counts of both sides.
    public struct ChatTourReport: Sendable, Encodable {
        /// The conversation as both screens show it.
        public var screen: [String]
        /// Messages that the two members wrote.
        public var written: Int
        /// The number of messages that were written without a network.
        public var offline: Int
        /// Messages that were written by the other member meanwhile.
        public var missed: Int
        /// Messages that the server has.
        public var stored: Int
        /// Deviations from the expected results; empty if there are none.
        public var problems: [String] = []
    }

    extension ChatTourReport: CustomStringConvertible {
        /// The counts, as a person reads them.
        public var description: String {
            "\(written) written, \(offline) offline, \(stored) on each screen"
        }
    }
#endif
