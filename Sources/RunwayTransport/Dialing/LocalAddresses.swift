import NIOCore
import Runway

/// The addresses of all interfaces of this device; `nil` where the system does not say.
@Sendable
func systemLocalAddresses() -> Set<IPAddress>? {
    guard let devices = try? System.enumerateDevices() else { return nil }
    return Set(devices.compactMap { $0.address?.ipAddress.flatMap { IPAddress($0) } })
}
