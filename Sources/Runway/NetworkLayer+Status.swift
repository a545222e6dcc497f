public import Foundation

extension NetworkLayer {
    /// The network that the device has, as far as the layer's source knows.
    public var status: NetworkStatus { connectivity.current }

    /// Whether a call may reach its host; `true` as long as the status is unknown. A call that is made nevertheless
    /// fails at once as ``NetworkError/Kind/noNetwork``, unless the response is cached in memory or
    /// ``CallOptions/waitsForNetwork`` is set.
    public var isReachable: Bool { status.isReachable }

    /// The status now, and then every change of it, until the layer is released or the reading task is cancelled.
    ///
    /// ```swift
    /// for await status in network.statuses { banner.isHidden = status.isReachable }
    /// ```
    ///
    /// Every access returns an independent sequence. A slow reader receives the newest status and not the ones in
    /// between.
    public var statuses: AsyncStream<NetworkStatus> { connectivity.statuses() }

    /// Posted to the default notification centre once for every change of a layer's ``status``, on the thread that
    /// detected it.
    ///
    /// The object of the notification is the layer. The user info has the layer's name under ``networkNameKey`` and the
    /// ``NetworkStatus`` under ``networkStatusKey``.
    public static let statusDidChange = Notification.Name("RunwayNetworkStatusDidChange")
    /// The key of the layer's name in the user info of a notification.
    public static let networkNameKey = "network"
    /// The key of the ``NetworkStatus`` in the user info of ``statusDidChange``.
    public static let networkStatusKey = "status"

    func networkDidChange(to status: NetworkStatus) {
        // Failures on the last network are no evidence about this one.
        admission.forgetFailures()
        notifyTransports(of: status)
        // After the transports, so that no upload continues over a connection of the last network.
        if status.isReachable { admission.endWaitsForCircuits() }
        NotificationCenter.default.post(
            name: Self.statusDidChange, object: self,
            userInfo: [Self.networkNameKey: name, Self.networkStatusKey: status])
    }
}
