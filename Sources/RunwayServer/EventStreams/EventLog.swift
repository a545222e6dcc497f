import Foundation
import RunwayFormats

/// An event as a server publishes it.
public struct PublishedEvent: Sendable, Hashable {
    /// The topic, which clients follow: at most 128 letters, digits and `._:/-`.
    public var topic: String
    /// The type, by which clients tell events apart. It does not begin with `runway.`, and has no line end and no
    /// character of the value 0.
    public var type: String
    /// The text; by convention JSON. It has no character of the value 0, which PostgreSQL can't store.
    public var data: String

    /// Describes an event for ``EventHub`` to publish.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - type: The type. The default is `message`.
    ///   - data: The text.
    public init(topic: String, type: String = "message", data: String) {
        self.topic = topic
        self.type = type
        self.data = data
    }

    /// An event whose data is JSON.
    init(topic: String, type: String, json: [UInt8]) {
        self.init(topic: topic, type: type, data: String(decoding: json, as: UTF8.self))
    }

    /// Returns whether a text can be a topic.
    static func isTopic(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.count <= 128
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._:/-".contains($0)) }
    }

    var isValid: Bool {
        Self.isTopic(topic) && !type.isEmpty && type.utf8.count <= 128 && !type.hasPrefix(StreamControl.typePrefix)
            && !type.utf8.contains { $0 == 10 || $0 == 13 || $0 == 0 } && !data.utf8.contains(0)
    }
}

/// The events that a log still has.
public struct EventLogRange: Sendable, Hashable {
    /// Names the numbering: letters and digits, at most 64. A log that lost events it had begins another.
    public var epoch: String
    /// The offset of the last event; 0 if there was none.
    public var last: Int64
    /// The offset of the first event that the log still has; one more than ``last`` if it has none.
    public var first: Int64

    /// Lets a log of your own report which events it has.
    public init(epoch: String, first: Int64, last: Int64) {
        (self.epoch, self.first, self.last) = (epoch, first, last)
    }

    /// Returns a name for a new numbering.
    public static func newEpoch() -> String { UUID().uuidString.replacing("-", with: "").prefix(16).lowercased() }
}

/// Stores the last events of a hub, so that clients that reconnect receive the events that they missed.
///
/// ``MemoryEventLog`` forgets them when the process ends; `SQLiteEventLog` of `RunwayServerStorage` does not. The hub
/// calls ``append(_:)`` one call at a time.
public protocol EventLog: Sendable {
    /// Returns which events the log has.
    func range() async throws -> EventLogRange
    /// Stores events with the next offsets, and returns when they are as durable as the log makes them. It may remove
    /// the oldest ones.
    ///
    /// - Returns: The range afterwards; its last offset is that of the last event.
    func append(_ events: [PublishedEvent]) async throws -> EventLogRange
    /// Returns events after an offset, in order and without a gap: a log that has lost events ends the result before
    /// them, or begins it after them.
    ///
    /// The memory of a page is bounded: when its data reach ``EventHub/maximumReadByteCount``, the page ends with that
    /// event, even if it has fewer than `maximumCount` events. Otherwise it has fewer only if no event follows.
    ///
    /// - Parameters:
    ///   - offset: The offset after which they begin.
    ///   - maximumCount: The most events that are returned.
    /// - Returns: The events and the offset of the first one. The offset is greater than `offset + 1` if earlier events
    ///   are gone.
    func events(after offset: Int64, upTo maximumCount: Int) async throws -> (first: Int64, events: [PublishedEvent])
}
