#if Command
    package import Runway

    /// The results of a demo session, and the outcome of every call.
    package struct DemoReport: Sendable, Encodable {
        /// One action of the user, and the content of the screen after it.
        package struct Scene: Sendable, Encodable {
            /// The part of the demo that the scene belongs to.
            package var part: DemoPart
            /// The user's action.
            package var title: String
            /// The screen, line by line.
            package var screen: [String]
            /// The number of calls that the scene made.
            package var calls = 0
            /// The number of requests that the scene sent.
            package var requests = 0
        }

        /// The seed of the backend's listings.
        package var seed: UInt64
        /// Calls that were made, whatever their outcome.
        package var calls: Int
        /// Calls that made a request of their own.
        package var callsSent: Int
        /// The numbers of calls that made no request, by the reason.
        package var callsNotSent: [UnsentReason: Int]
        /// Requests that were passed to the transport.
        package var requestsOnTheWire: Int
        /// The numbers of requests that calls made after their first, by the reason.
        package var requestsRepeated: [Repetition: Int]
        /// The bytes of the bodies of all complete responses.
        package var bytes: Int
        /// The user's actions and the screens.
        package var scenes: [Scene]
        /// The record of every call, in the order in which the calls were made.
        package var flights: [FlightRecord]
        /// The records of the requests that carried several calls.
        package var envelopes: [FlightRecord]
        /// Deviations from the expected results; empty if there are none.
        package var problems: [String]
        /// The choice among the addresses of a host, if the session played that tour.
        package var hosts: HostTourReport?
        /// The log of an app that was killed, if the session played that tour.
        package var log: LogTourReport?
        /// The changes that an app made without a network, if the session played that tour.
        package var train: TrainTourReport?
        /// The messages of two users, if the session played that tour.
        package var chat: ChatTourReport?
        /// The outcomes of signed requests, if the session played that tour.
        package var signing: SigningTourReport?

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

    extension DemoReport {
        /// Plays a session, then its tours: signed calls, a host's addresses, and apps in processes of their own, which
        /// are this program with the commands of ``LogTour`` and ``TrainTour``.
        ///
        /// - Parameters:
        ///   - seed: The seed of the backend's listings. The default is 1.
        ///   - parts: The parts to play, in the order of `DemoPart.allCases`. The default is all of them.
        ///   - onScene: Called with the title of every scene as it begins.
        /// - Throws: The error of a server or a process that can't start, and `CancellationError` when the task is
        ///   cancelled.
        package static func play(
            seed: UInt64 = 1, parts: Set<DemoPart> = Set(DemoPart.allCases),
            onScene: @escaping @Sendable (String) -> Void = { _ in }
        ) async throws -> DemoReport {
            var report = try await DemoSession.play(seed: seed, parts: parts, onScene: onScene)
            func add<Report: TourReport>(
                _ part: DemoPart, at place: WritableKeyPath<DemoReport, Report?>, _ play: () async throws -> Report
            ) async throws {
                guard parts.contains(part) else { return }
                onScene(part.action)
                let tour = try await play()
                report.problems += tour.problems
                report[keyPath: place] = tour
            }
            try await add(.signing, at: \.signing) { try await SigningTour.play() }
            try await add(.addresses, at: \.hosts) { try await HostTour.play(seed: seed) }
            try await add(.log, at: \.log) { try await LogTour.play() }
            try await add(.train, at: \.train) { try await TrainTour.play(seed: seed) }
            try await add(.chat, at: \.chat) { try await ChatTour.play() }
            return report
        }
    }

    /// The results of a part of the demo that is not played on the app's screens.
    protocol TourReport: Sendable, Encodable, CustomStringConvertible {
        /// Deviations from the expected results; empty if there are none.
        var problems: [String] { get }
    }

    extension Array where Element: Hashable {
        /// The number of occurrences of each element.
        var counted: [Element: Int] { reduce(into: [:]) { $0[$1, default: 0] += 1 } }
    }
#endif
