/// The decision of a stage about one call. It consists of enums and numbers; its text is created only when the record
/// is read.
package protocol StageDecision: Sendable, CustomStringConvertible {
    /// The step of the call that makes the decision.
    static var step: FlightStep { get }
    /// The decision in the form in which the call's record contains it.
    var entry: DecisionRecord { get }
}

extension StageDecision {
    package var description: String { entry.text }
}

/// The name, values and text of a decision in a record.
package struct DecisionRecord: Sendable, Equatable {
    /// The stable name of the decision in one word.
    package var name: String
    /// The values that belong to the decision. Durations are in seconds.
    package var fields: [String: String]
    /// The decision in a few words, including its values.
    package var text: String

    package init(_ name: String, _ text: String) { self.init(name: name, fields: [:], text: text) }

    package init(_ name: String, _ fields: KeyValuePairs<String, (any Sendable)?>, _ text: String) {
        self.init(name: name, fields: [:], text: text)
        for case (let key, let value?) in fields {
            self.fields[key] = if let duration = value as? Duration { "\(duration.roundedSeconds)" } else { "\(value)" }
        }
    }

    package init(name: String, fields: [String: String], text: String) {
        (self.name, self.fields, self.text) = (name, fields, text)
    }
}

extension Duration {
    /// The duration in seconds, rounded to microseconds, since the clock is not more accurate.
    package var roundedSeconds: Double {
        Double(components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000) / 1e6
    }
}

struct CustomDecision: StageDecision {
    static var step: FlightStep { .landing }
    let entry: DecisionRecord
}
