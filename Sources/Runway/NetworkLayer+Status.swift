public import Foundation

extension NetworkLayer {
    /// What network the device has, as far as the layer's source knows.
    public var status: NetworkStatus { connectivity.current }

    /// Whether a call may reach its host; `true` as long as nobody knows better. A call that is made all the same fails at once as
    /// ``NetworkError/Kind/noNetwork``, unless the response is cached in memory or ``CallOptions/waitsForNetwork`` is set.
    public var isReachable: Bool { status.isReachable }

    /// The status now, and then every change of it, until the layer is let go or the reading task is cancelled.
    ///
    /// ```swift
    /// for await status in network.statuses { banner.isHidden = status.isReachable }
    /// ```
    ///
    /// Each reading is its own. One that is slow finds the newest status and not those between.
    public var statuses: AsyncStream<NetworkStatus> { connectivity.statuses() }

    /// Posted to the default notification centre once for every change of a layer's ``status``, on the thread that found it out.
    ///
    /// Its object is the layer. Its user info has the layer's name under ``networkNameKey`` and the ``NetworkStatus`` under
    /// ``networkStatusKey``.
    public static let statusDidChange = Notification.Name("RunwayNetworkStatusDidChange")
    /// The key of the layer's name in the user info of a notification.
    public static let networkNameKey = "network"
    /// The key of the ``NetworkStatus`` in the user info of ``statusDidChange``.
    public static let networkStatusKey = "status"

    func networkDidChange(to status: NetworkStatus) {
        // What failed on the last network says nothing of this one.
        admission.forgetFailures()
        tellTransports(of: status)
        NotificationCenter.default.post(
            name: Self.statusDidChange, object: self,
            userInfo: [Self.networkNameKey: name, Self.networkStatusKey: status])
    }
}
