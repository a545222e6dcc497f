public import Logging

/// Writes records to a swift-log logger.
///
/// A call that succeeded is `info`, one that the network or the server failed `warning`, one that only a change of the app or the server
/// can mend `error`; what the app itself cancelled is `debug`, with the requests as curl command lines; every decision is
/// `trace`. What a reformer could not read is a `warning` of its own, as the record was written when its call landed.
public struct LogSink: EventSink {
    private let logger: Logger

    /// Makes a sink. The default logger has the label `runway`.
    public init(logger: Logger = Logger(label: "runway")) {
        self.logger = logger
    }

    /// Writes one record; of one that amends another, what was decided last.
    public func receive(_ record: FlightRecord) {
        if record.isAmendment {
            guard let last = record.decisions.last else { return }
            return logger.warning("\(record.id) \("\(last)".oneLine)", metadata: record.metadata)
        }
        // The arguments are closures that swift-log runs only where the level is on: no text is made for nobody.
        logger.log(level: record.outcome.logLevel, "\(record.summary)", metadata: record.metadata)
        for attempt in record.attempts { logger.debug("\(record.id) \(attempt.curlCommand)") }
        logger.trace("\(record.description)")
    }
}

extension FlightRecord {
    fileprivate var metadata: Logger.Metadata {
        ["network": "\(network)", "service": "\(service)", "endpoint": "\(endpoint)", "outcome": "\(outcome.name)"]
    }
}

extension FlightOutcome {
    /// The level at which a person wants to see this outcome.
    var logLevel: Logger.Level {
        switch self {
        case .succeeded: .info
        case .absorbed, .vetoed: .notice
        case .cancelled, .replaced, .ignored: .debug
        case .failed(let error):
            switch error.kind {
            case .invalidConfiguration, .invalidParameters, .invalidResponse, .notTrusted, .storage: .error
            case .cancelled, .loginCancelled, .notCached: .debug
            default: .warning
            }
        }
    }
}
