#if Command
    package import Runway

    /// The results of a demo session, and the outcome of every call.
    package struct DemoReport: Sendable, Encodable {
        /// One action of the user, and the screen after it.
        package struct Scene: Sendable, Encodable {
            package var part: DemoPart
            package var title: String
            package var screen: [String]
            package var calls = 0
            package var requests = 0
        }

        package var seed: UInt64
        /// The number of calls, with any outcome.
        package var calls: Int
        /// The number of calls that sent their own request.
        package var callsSent: Int
        /// The number of calls that did not send their own request, by reason.
        package var callsNotSent: [UnsentReason: Int]
        /// The number of requests passed to the transport.
        package var requestsOnTheWire: Int
        /// The number of requests that followed the first request of a call, by reason.
        package var requestsRepeated: [Repetition: Int]
        /// The total size of the bodies of all complete responses, in bytes.
        package var bytes: Int
        package var scenes: [Scene]
        /// The record of every call, in the order in which the calls were made.
        package var flights: [FlightRecord]
        /// The records of the requests that carried several merged calls.
        package var envelopes: [FlightRecord]
        /// Differences from the expected results; empty if there are none.
        package var problems: [String]
        /// The report of the tour of a host's addresses; `nil` if it was not played.
        package var hosts: HostTourReport?
        /// The report of the tour with an app that is killed; `nil` if it was not played.
        package var log: LogTourReport?
        /// The report of the tour without a network; `nil` if it was not played.
        package var train: TrainTourReport?
        /// The report of the chat tour; `nil` if it was not played.
        package var chat: ChatTourReport?
        /// The report of the tour with a saved home and an offer; `nil` if it was not played.
        package var saving: SavingTourReport?
        /// The report of the tour with two devices; `nil` if it was not played.
        package var devices: DevicesTourReport?
        /// The report of the tour with bundles; `nil` if it was not played.
        package var bundles: BundlesTourReport?
        /// The report of the tour with a view that arrives; `nil` if it was not played.
        package var views: ViewsTourReport?
        /// The report of the tour with signed requests; `nil` if it was not played.
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
        /// Plays a session, and then its tours: signed calls, a host's addresses, and apps in separate processes. These
        /// processes run this program with the commands of ``LogTour``, ``TrainTour``,
        /// ``SavingTour`` and ``DevicesTour``.
        ///
        /// - Parameters:
        ///   - seed: The seed of the backend's listings. The default is 1.
        ///   - parts: The parts to play, in the order of `DemoPart.allCases`. The default is all parts.
        ///   - onScene: Called with the title of every scene when the scene begins.
        /// - Throws: The error of a server or process that can't start, and `CancellationError` after a cancellation.
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
            try await add(.saving, at: \.saving) { try await SavingTour.play(seed: seed) }
            try await add(.devices, at: \.devices) { try await DevicesTour.play() }
            try await add(.bundles, at: \.bundles) { try await BundlesTour.play() }
            try await add(.views, at: \.views) { try await ViewsTour.play(seed: seed) }
            return report
        }
    }

    /// The results of a part that does not use the app's screens.
    protocol TourReport: Sendable, Encodable, CustomStringConvertible {
        /// Differences from the expected results; empty if there are none.
        var problems: [String] { get }
    }

    extension Array where Element: Hashable {
        var counted: [Element: Int] { reduce(into: [:]) { $0[$1, default: 0] += 1 } }
    }
#endif
