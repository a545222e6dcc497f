#if Command
    public import Runway

    /// The results of a demo session, and the outcome of every call.
    public struct DemoReport: Sendable, Encodable {
        /// One action of the user, and the content of the screen after it.
        public struct Scene: Sendable, Encodable {
            /// The part of the demo that it belongs to.
            public var part: DemoPart
            /// The action.
            public var title: String
            /// The screen, line by line.
            public var screen: [String]
            /// How many calls were made in it.
            public var calls = 0
            /// How many requests it took.
            public var requests = 0
        }

        /// The seed of the backend's listings.
        public var seed: UInt64
        /// Calls that were made, whatever their outcome.
        public var calls: Int
        /// Calls that made a request of their own.
        public var callsSent: Int
        /// Calls that made none, by why they did not.
        public var callsNotSent: [UnsentReason: Int]
        /// Requests that were passed to the transport.
        public var requestsOnTheWire: Int
        /// Requests that calls made after their first, by why they did.
        public var requestsRepeated: [Repetition: Int]
        /// Bytes of the bodies of all responses that came in whole.
        public var bytes: Int
        /// The user's actions and the screens.
        public var scenes: [Scene]
        /// The record of every call, in the order of asking.
        public var flights: [FlightRecord]
        /// The records of the requests that carried several calls.
        public var envelopes: [FlightRecord]
        /// Deviations from the expected results; empty if there are none.
        public var problems: [String]
        /// How the addresses of a host were chosen, if that was part of the session.
        public var hosts: HostTourReport?
        /// What became of the log of an app that was killed, if that was part of the session.
        public var log: LogTourReport?
        /// What became of the changes of an app without a network, if that was part of the session.
        public var train: TrainTourReport?
        /// What became of the messages of two users, if that was part of the session.
        public var chat: ChatTourReport?
        /// What became of signed requests, if they were part of the session.
        public var signing: SigningTourReport?

        init(
            seed: UInt64, scenes: [Scene], flights: [FlightRecord], envelopes: [FlightRecord], problems: [String]
        ) {
            let attempts = (flights + envelopes).flatMap(\.attempts)
            self.seed = seed
            self.scenes = scenes
            self.flights = flights
            self.envelopes = envelopes
            self.problems = problems
            calls = flights.count
            callsSent = flights.count { !$0.attempts.isEmpty }
            callsNotSent = flights.compactMap { UnsentReason($0) }.counted
            requestsOnTheWire = attempts.count
            requestsRepeated = flights.flatMap(Repetition.all).counted
            bytes = attempts.compactMap(\.responseByteCount).reduce(0, +)
        }
    }

    extension Array where Element: Hashable {
        /// How often each element is there.
        var counted: [Element: Int] { reduce(into: [:]) { $0[$1, default: 0] += 1 } }
    }
#endif
