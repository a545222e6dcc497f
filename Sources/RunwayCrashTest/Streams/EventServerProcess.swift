import ArgumentParser
import Foundation
import Hummingbird
import RunwayServer
import RunwayServerStorage

#if PostgreSQL
    import RunwayPostgreSQL
#endif

/// Publishes numbers as events until it is killed. Prints its port, and the last number of an earlier run.
///
/// With a database, which several processes may share, the events are random texts that never repeat.
struct EventServerProcess: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "event-server", shouldDisplay: false)

    @Option var file: String
    @Option var port = 0
    /// The time between two events in milliseconds; 0 publishes no events.
    @Option var pace = 0
    @Option var bug: EventStreamBug?
    @Option var database: String?

    func run() async throws {
        let log = try await log()
        let last = try await log.range().last
        var options = EventHubOptions()
        options.maximumConnectionsPerSource = options.maximumConnections
        let hub = try await EventHub(
            name: "numbers", log: bug == .earlyDelivery ? ForgetfulLog(base: log) : log, options: options)
        let router = Router()
        EventStreamRoute(hub) { _, _ in EventPermission() }.add(to: router)
        try await router.serve(at: port) { [pace, database] port in
            say("\(port) \(last)")
            guard pace > 0 else { return }
            Task {
                if database == nil {
                    try await Self.publish(to: hub, after: last, every: .milliseconds(pace))
                } else {
                    try await Self.publish(to: hub, every: .milliseconds(pace))
                }
            }
        }
    }

    private func log() async throws -> any EventLog {
        guard let database else {
            return bug == .forgottenEvents ? MemoryEventLog() : try SQLiteEventLog(file: URL(filePath: file))
        }
        #if PostgreSQL
            // The file name is unique to this run, so it separates the run's data.
            return try await PostgreSQLEventLog(at: database, name: "numbers", tenant: file)
        #else
            throw CrashFailure("this program was built without PostgreSQL, so that it can't use \(database)")
        #endif
    }

    /// Publishes random texts. Other processes may publish to the same log, so the offsets may have gaps.
    private static func publish(to hub: EventHub, every pace: Duration) async throws {
        while true {
            try await hub.publish(PublishedEvent(topic: "numbers", data: UUID().uuidString))
            try await Task.sleep(for: pace)
        }
    }

    /// Publishes numbers. The data of each event is the event's offset.
    private static func publish(to hub: EventHub, after last: Int64, every pace: Duration) async throws {
        var number = last
        while true {
            number += 1
            let offset = try await hub.publish(PublishedEvent(topic: "numbers", data: "\(number)"))
            guard offset == number else { throw CrashFailure("\(number) was stored at another offset") }
            try await Task.sleep(for: pace)
        }
    }
}

/// A bug that the test adds to the event server, to prove that its check finds the bug.
enum EventStreamBug: String, CaseIterable, ExpressibleByArgument {
    /// Events are stored only in memory.
    case forgottenEvents
    /// Every tenth event is delivered before it is stored, and is stored with other data.
    case earlyDelivery
}

/// An event log that reports events as stored, but does not store them.
private final class ForgetfulLog: EventLog {
    private let base: any EventLog

    init(base: any EventLog) { self.base = base }

    func range() async throws -> EventLogRange { try await base.range() }

    func append(_ events: [PublishedEvent]) async throws -> EventLogRange {
        let stored = events.map { event in
            Int(event.data).map { $0 % 10 == 0 } == true
                ? PublishedEvent(topic: event.topic, data: "forgotten") : event
        }
        return try await base.append(stored)
    }

    func events(after offset: Int64, upTo maximumCount: Int) async throws -> (first: Int64, events: [PublishedEvent]) {
        try await base.events(after: offset, upTo: maximumCount)
    }
}
