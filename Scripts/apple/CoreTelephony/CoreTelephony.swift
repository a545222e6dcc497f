public import AppleFoundation
public import Synchronization

// developer.apple.com: Radio Access Technology Constants
public let CTRadioAccessTechnologyGPRS = "CTRadioAccessTechnologyGPRS"
public let CTRadioAccessTechnologyEdge = "CTRadioAccessTechnologyEdge"
public let CTRadioAccessTechnologyWCDMA = "CTRadioAccessTechnologyWCDMA"
public let CTRadioAccessTechnologyHSDPA = "CTRadioAccessTechnologyHSDPA"
public let CTRadioAccessTechnologyHSUPA = "CTRadioAccessTechnologyHSUPA"
public let CTRadioAccessTechnologyCDMA1x = "CTRadioAccessTechnologyCDMA1x"
public let CTRadioAccessTechnologyCDMAEVDORev0 = "CTRadioAccessTechnologyCDMAEVDORev0"
public let CTRadioAccessTechnologyCDMAEVDORevA = "CTRadioAccessTechnologyCDMAEVDORevA"
public let CTRadioAccessTechnologyCDMAEVDORevB = "CTRadioAccessTechnologyCDMAEVDORevB"
public let CTRadioAccessTechnologyeHRPD = "CTRadioAccessTechnologyeHRPD"
public let CTRadioAccessTechnologyLTE = "CTRadioAccessTechnologyLTE"
public let CTRadioAccessTechnologyNRNSA = "CTRadioAccessTechnologyNRNSA"
public let CTRadioAccessTechnologyNR = "CTRadioAccessTechnologyNR"

extension Notification.Name {
    // developer.apple.com: NSNotification.Name.CTServiceRadioAccessTechnologyDidChange
    public static let CTServiceRadioAccessTechnologyDidChange = Notification.Name(
        "CTServiceRadioAccessTechnologyDidChangeNotification")
}

// developer.apple.com: CTTelephonyNetworkInfo
open class CTTelephonyNetworkInfo: NSObject {
    // developer.apple.com: CTTelephonyNetworkInfo.serviceCurrentRadioAccessTechnology
    open var serviceCurrentRadioAccessTechnology: [String: String]? { Self.fake.withLock { $0.technologies } }
    // developer.apple.com: CTTelephonyNetworkInfo.dataServiceIdentifier
    open var dataServiceIdentifier: String? { Self.fake.withLock { $0.service } }

    /// What every object of the fakes reports.
    public static let fake = Mutex<(service: String?, technologies: [String: String]?)>((nil, nil))
}
