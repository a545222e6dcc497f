public import Logging

/// Writes records to a swift-log logger.
///
/// The log level depends on the outcome of the call:
/// - `info`: The call succeeded.
/// - `notice`: The call is stored to be sent later, was vetoed, or ended with an error that business code need not
///   handle.
/// - `warning`: The network or the server failed. A failed reformer is also logged as a separate `warning`, because the
///   record was already logged when the call ended.
/// - `error`: Only a change of the app, the device or the server can fix the failure.
/// - `debug`: The app cancelled or replaced the call, or the call joined another. All requests are logged at this
///   level, too, as curl command lines.
/// - `trace`: Every decision.
///
/// ```swift
/// let network = NetworkLayer(transport: transport, sinks: [LogSink()])
/// ```
public struct LogSink: EventSink {
    private let logger: Logger

    /// Creates a sink that writes records to `logger`. The default logger has the label `runway`.
    public init(logger: Logger = Logger(label: "runway")) {
        self.logger = logger
    }

    /// Logs one record. If the record replaces an earlier record of the same call, logs only the last decision.
    public func receive(_ record: FlightRecord) {
        if record.isAmendment {
            guard let last = record.decisions.last else { return }
            return logger.warning("\(record.id) \("\(last)".oneLine)", metadata: record.metadata)
        }
        // swift-log evaluates the arguments only if the level is enabled, so no unused text is created.
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
    var logLevel: Logger.Level {
        switch kind {
        case .succeeded: .info
        case .absorbed, .vetoed, .queued: .notice
        case .cancelled, .replaced, .joined, .ignored: .debug
        default:
            switch error?.outlook.obstacle {
            // These causes of failure remain until somebody acts.
            case .app, .device, .unreadable, .untrusted: .error
            case .ended: .debug
            default: .warning
            }
        }
    }
}
