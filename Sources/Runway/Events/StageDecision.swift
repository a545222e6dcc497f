/// The decision of a stage about one call, as enums and numbers; the text is made only when the record is read.
package protocol StageDecision: Sendable, CustomStringConvertible {
    /// The step of the call that decides.
    static var step: FlightStep { get }
    /// The decision as the record contains it.
    var entry: DecisionRecord { get }
}

extension StageDecision {
    package var description: String { entry.text }
}

/// A decision as the record shows it.
package struct DecisionRecord: Sendable, Equatable {
    /// The name of the decision, one stable word.
    package var name: String
    /// The values that belong to it; durations are in seconds.
    package var fields: [String: String]
    /// All of it in a few words, for people.
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
    /// The duration in seconds, rounded to the microsecond: smaller differences are noise of the clock.
    package var roundedSeconds: Double {
        Double(components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000) / 1e6
    }
}

/// A decision of an app's own stage.
struct CustomDecision: StageDecision {
    static var step: FlightStep { .landing }
    let entry: DecisionRecord
}
