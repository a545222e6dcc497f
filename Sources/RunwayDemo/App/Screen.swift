#if Command
    import HTTPTypes
    package import Runway

    /// The screen of the demo app: the lines that the user sees.
    @MainActor
    final class Screen {
        private(set) var lines: [String] = []
        /// The error that the screen shows; `nil` if it shows rows.
        private(set) var error: NetworkError?
        private let onLanding: (FlightID) -> Void

        /// Creates an empty screen.
        ///
        /// - Parameter onLanding: Called for each call whose response has arrived at the screen's controller, after the
        ///   screen shows its rows.
        init(onLanding: @escaping (FlightID) -> Void) {
            self.onLanding = onLanding
        }

        /// Shows rows, formatted by the row view that all lists share.
        func show(_ rows: [ViewData]) {
            error = nil
            lines = rows.map { row in
                let id = row[PropertyListKeys.id] ?? ""
                let title = row[PropertyListKeys.title] ?? ""
                let rest = [PropertyListKeys.price, PropertyListKeys.area, PropertyListKeys.place].compactMap {
                    row[$0]
                }
                return "\(id)  \(title)  \(rest.joined(separator: " · "))"
            }
        }

        /// Shows pins, one line each.
        func add(_ pins: [MapPin]) {
            lines += pins.map { "📍 \($0.latitude), \($0.longitude)  \($0.label)" }
        }

        func show(_ error: NetworkError) {
            self.error = error
            lines = ["⚠︎ \(error.sentence)"]
        }

        /// Calls `onLanding` for a call whose response or error is shown.
        func landed(_ flight: FlightID?) {
            if let flight { onLanding(flight) }
        }
    }

    extension NetworkError {
        fileprivate var sentence: String {
            switch kind {
            case .invalidParameters: detail
            case .service: "The service says: \(serviceError?.message ?? "")."
            case .refused: "The server refused it (status \(status?.code ?? 0))."
            case .overloaded: "The server is busy. Try again later."
            case .unavailable: "The service is down. Try again soon."
            case .timedOut: "This is taking too long."
            case .needsLogin: "Log in first."
            default: "Something went wrong."
            }
        }
    }

    extension NetworkLayer {
        /// Makes a call. Returns its error, or `nil` if it succeeds.
        package func failure(of endpoint: some Endpoint) async -> NetworkError? {
            do throws(NetworkError) {
                _ = try await call(endpoint)
                return nil
            } catch {
                return error
            }
        }
    }
#endif
