public import Foundation

extension NetworkLayer {
    /// The device's current network, as reported by the layer's status source.
    public var status: NetworkStatus { connectivity.current }

    /// Whether the device has a network; `true` while the status is unknown. If it is `false`, a call fails at once as
    /// ``NetworkError/Kind/noNetwork``, unless its response is cached in memory or ``CallOptions/waitsForNetwork`` is
    /// set.
    public var isReachable: Bool { status.isReachable }

    /// The current network status, followed by every change of it, until the layer is released or the reading task is
    /// cancelled.
    ///
    /// ```swift
    /// for await status in network.statuses { banner.isHidden = status.isReachable }
    /// ```
    ///
    /// Every access returns an independent sequence. A slow reader receives the latest status, but not the ones in
    /// between.
    public var statuses: AsyncStream<NetworkStatus> { connectivity.statuses() }

    /// Posted to the default notification centre for every change of a layer's ``status``, on the thread that detected
    /// the change.
    ///
    /// The object of the notification is the layer. The user info contains the layer's name under ``networkNameKey``
    /// and the ``NetworkStatus`` under ``networkStatusKey``.
    public static let statusDidChange = Notification.Name("RunwayNetworkStatusDidChange")
    /// The key of the layer's name in the user info of ``statusDidChange``.
    public static let networkNameKey = "network"
    /// The key of the ``NetworkStatus`` in the user info of ``statusDidChange``.
    public static let networkStatusKey = "status"

    func networkDidChange(to status: NetworkStatus) {
        // Failures on the previous network say nothing about this one.
        admission.forgetFailures()
        notifyTransports(of: status)
        // Calls stop waiting for open circuits only after the transports were notified, so that no upload continues on
        // a connection of the previous network.
        if status.isReachable { admission.endWaitsForCircuits() }
        NotificationCenter.default.post(
            name: Self.statusDidChange, object: self,
            userInfo: [Self.networkNameKey: name, Self.networkStatusKey: status])
    }
}
