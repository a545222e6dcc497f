#if os(iOS) && !targetEnvironment(macCatalyst)
    import CoreTelephony
    import Foundation

    /// Reports the generation of the mobile network that the system uses for data.
    // Unchecked: the system's class is not declared Sendable, but it only reads, and nothing here changes after the
    // start.
    final class CellularRadio: @unchecked Sendable {
        private static let generations = [
            CTRadioAccessTechnologyGPRS: 2, CTRadioAccessTechnologyEdge: 2, CTRadioAccessTechnologyCDMA1x: 2,
            CTRadioAccessTechnologyWCDMA: 3, CTRadioAccessTechnologyHSDPA: 3, CTRadioAccessTechnologyHSUPA: 3,
            CTRadioAccessTechnologyCDMAEVDORev0: 3, CTRadioAccessTechnologyCDMAEVDORevA: 3,
            CTRadioAccessTechnologyCDMAEVDORevB: 3, CTRadioAccessTechnologyeHRPD: 3, CTRadioAccessTechnologyLTE: 4,
            CTRadioAccessTechnologyNRNSA: 5, CTRadioAccessTechnologyNR: 5,
        ]

        private let info = CTTelephonyNetworkInfo()
        private let observer: any NSObjectProtocol

        /// Starts to observe. `onChange` is called after every change of the radio technology, on any thread.
        init(onChange: @escaping @Sendable () -> Void) {
            observer = NotificationCenter.default.addObserver(
                forName: .CTServiceRadioAccessTechnologyDidChange, object: nil, queue: nil
            ) { _ in onChange() }
        }

        deinit { NotificationCenter.default.removeObserver(observer) }

        /// The current generation; `nil` without service, or if this code does not know the technology.
        var generation: Int? {
            // With a single SIM, the system may not name the service that is used for data. Then the only known
            // technology is used.
            let technologies = info.serviceCurrentRadioAccessTechnology ?? [:]
            let technology =
                info.dataServiceIdentifier.map { technologies[$0] }
                ?? (technologies.count == 1 ? technologies.values.first : nil)
            return technology.flatMap { Self.generations[$0] }
        }
    }
#endif
