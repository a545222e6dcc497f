import Runway

/// The lines that the user sees.
@MainActor
final class Screen {
    private(set) var lines: [String] = []
    private let onLanding: (FlightID) -> Void

    /// Creates an empty screen.
    ///
    /// - Parameter onLanding: Called with the call that landed here, after it is shown.
    init(onLanding: @escaping (FlightID) -> Void) {
        self.onLanding = onLanding
    }

    /// Shows rows, each as the row view of every list does.
    func show(_ rows: [ViewData]) {
        lines = rows.map { row in
            let id = row[PropertyListKeys.id] ?? ""
            let title = row[PropertyListKeys.title] ?? ""
            let rest = [PropertyListKeys.price, PropertyListKeys.area, PropertyListKeys.place].compactMap { row[$0] }
            return "\(id)  \(title)  \(rest.joined(separator: " · "))"
        }
    }

    /// Adds pins to the screen, as a map would.
    func add(_ pins: [MapPin]) {
        lines += pins.map { "📍 \($0.latitude), \($0.longitude)  \($0.label)" }
    }

    /// Shows an error by its description.
    func show(_ error: NetworkError) {
        lines = ["⚠︎ \(error.kind.name): \(error.detail)"]
    }

    /// Takes note that a call landed.
    func landed(_ flight: FlightID?) {
        if let flight { onLanding(flight) }
    }
}
