public import Runway
import RunwayTUF

extension BundleRecord {
    /// The name and the properties with which an action log records the decision for the counts of the fleet; `nil` for
    /// decisions that are not counted.
    ///
    /// ```swift
    /// if let action = record.action { log.record(action.name, action.properties) }
    /// ```
    ///
    /// The properties name the bundle and nothing of the device.
    public var action: (name: String, properties: Parameters)? {
        guard let event = FleetEvent(rawValue: kind.description), let bundle, !bundle.isEmbedded else { return nil }
        return (FleetEvent.name, ["event": .string(event.rawValue), "bundle": .string(bundle.description)])
    }
}
