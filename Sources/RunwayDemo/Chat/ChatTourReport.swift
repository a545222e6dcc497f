#if Command
    /// The results of a ``ChatTour``: the counts of both sides.
    package struct ChatTourReport: Sendable, Encodable {
        /// The conversation as both screens show it.
        package var screen: [String]
        /// Messages that the two members wrote.
        package var written: Int
        /// The number of messages that were written without a network.
        package var offline: Int
        /// Messages that were written by the other member meanwhile.
        package var missed: Int
        /// Messages that the server has.
        package var stored: Int
        /// Deviations from the expected results; empty if there are none.
        package var problems: [String] = []
    }

    extension ChatTourReport: CustomStringConvertible {
        /// The counts, as a person reads them.
        package var description: String {
            "\(written) written, \(offline) offline, \(stored) on each screen"
        }
    }
#endif
