import Foundation
import RunwayFormats

/// An event to publish to the clients that follow its topic.
public struct PublishedEvent: Sendable, Hashable {
    /// The topic that clients follow: at most 128 letters, digits and `._:/-`.
    public var topic: String
    /// The type by which clients distinguish events. It must not begin with `runway.` and must contain no line end and
    /// no U+0000.
    public var type: String
    /// The text; by convention JSON. It must not contain U+0000, which PostgreSQL cannot store.
    public var data: String

    /// Creates an event for ``EventHub`` to publish. The properties describe the parameters; the default type is
    /// `message`.
    public init(topic: String, type: String = "message", data: String) {
        self.topic = topic
        self.type = type
        self.data = data
    }

    /// Creates an event with JSON as its data.
    init(topic: String, type: String, json: [UInt8]) {
        self.init(topic: topic, type: type, data: String(decoding: json, as: UTF8.self))
    }

    /// Returns whether a text is a valid topic.
    static func isTopic(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.count <= 128
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._:/-".contains($0)) }
    }

    var isValid: Bool {
        Self.isTopic(topic) && !type.isEmpty && type.utf8.count <= 128 && !type.hasPrefix(StreamControl.typePrefix)
            && !type.utf8.contains { $0 == 10 || $0 == 13 || $0 == 0 } && !data.utf8.contains(0)
    }
}

/// The range of events that a log contains.
public struct EventLogRange: Sendable, Hashable {
    /// The epoch of the offsets: at most 64 letters and digits. A log that has lost events, other than by removing the
    /// oldest ones, begins a new epoch.
    public var epoch: String
    /// The offset of the last event that was appended; 0 if no event was ever appended.
    public var last: Int64
    /// The offset of the first event that the log contains; ``last`` + 1 if the log is empty.
    public var first: Int64

    /// Creates a range, for a custom log.
    public init(epoch: String, first: Int64, last: Int64) {
        (self.epoch, self.first, self.last) = (epoch, first, last)
    }

    /// Returns a random epoch.
    public static func newEpoch() -> String { UUID().uuidString.replacing("-", with: "").prefix(16).lowercased() }
}

/// Stores the last events of a hub, so that clients that reconnect receive the events that they missed.
///
/// ``MemoryEventLog`` loses its events when the process ends; `SQLiteEventLog` of `RunwayServerStorage` does not. The
/// hub never makes two calls of ``append(_:)`` at the same time.
public protocol EventLog: Sendable {
    /// Returns the range of events in the log.
    func range() async throws -> EventLogRange
    /// Stores events with the next offsets. A durable log returns when they are durable. It may remove the oldest
    /// events.
    ///
    /// - Returns: The new range of the log, which ends with the last stored event.
    func append(_ events: [PublishedEvent]) async throws -> EventLogRange
    /// Returns events after an offset, in order and without gaps. If the log has lost events, the page ends before the
    /// gap or begins after it.
    ///
    /// The size of a page is limited: it ends with the event at which its data reach ``EventHub/maximumReadByteCount``,
    /// even if it has fewer than `maximumCount` events. Otherwise, a page has fewer events only if no event follows.
    ///
    /// - Parameters:
    ///   - offset: The offset after which the page begins.
    ///   - maximumCount: The maximum number of returned events.
    /// - Returns: The events, and the offset of the first one. If the events before the first one were removed, its
    ///   offset is greater than `offset + 1`.
    func events(after offset: Int64, upTo maximumCount: Int) async throws -> (first: Int64, events: [PublishedEvent])
}
