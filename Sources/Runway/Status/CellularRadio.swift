#if os(iOS) && !targetEnvironment(macCatalyst)
    import CoreTelephony
    import Foundation

    /// Reports the generation of the mobile network that the system uses for data.
    // Unchecked: the system's object is not declared Sendable. It only reads, and nothing here changes after the start.
    final class CellularRadio: @unchecked Sendable {
        /// The generation of each radio access technology.
        private static let generations = [
            CTRadioAccessTechnologyGPRS: 2, CTRadioAccessTechnologyEdge: 2, CTRadioAccessTechnologyCDMA1x: 2,
            CTRadioAccessTechnologyWCDMA: 3, CTRadioAccessTechnologyHSDPA: 3, CTRadioAccessTechnologyHSUPA: 3,
            CTRadioAccessTechnologyCDMAEVDORev0: 3, CTRadioAccessTechnologyCDMAEVDORevA: 3,
            CTRadioAccessTechnologyCDMAEVDORevB: 3, CTRadioAccessTechnologyeHRPD: 3, CTRadioAccessTechnologyLTE: 4,
            CTRadioAccessTechnologyNRNSA: 5, CTRadioAccessTechnologyNR: 5,
        ]

        private let info = CTTelephonyNetworkInfo()
        private let observer: any NSObjectProtocol

        /// Starts to watch; `onChange` is called after every change of technology, on any thread.
        init(onChange: @escaping @Sendable () -> Void) {
            observer = NotificationCenter.default.addObserver(
                forName: .CTServiceRadioAccessTechnologyDidChange, object: nil, queue: nil
            ) { _ in onChange() }
        }

        deinit { NotificationCenter.default.removeObserver(observer) }

        /// The generation now; `nil` without service, or for a technology that is newer than this code.
        var generation: Int? {
            // Without the service for data, as with one SIM that the system does not name, the only one counts.
            let technologies = info.serviceCurrentRadioAccessTechnology ?? [:]
            let technology =
                info.dataServiceIdentifier.map { technologies[$0] }
                ?? (technologies.count == 1 ? technologies.values.first : nil)
            return technology.flatMap { Self.generations[$0] }
        }
    }
#endif
