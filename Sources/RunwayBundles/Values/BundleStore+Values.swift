import Synchronization

extension BundleStore {
    /// Returns the values of a bundle. Read them once after each launch, and pass them to guards and screens.
    ///
    /// - Parameter bundle: The running bundle.
    public func values(of bundle: RunningBundle) -> RemoteValues {
        // A damaged file has its record already.
        let data = (try? bundle.read(ValueFile.path)) ?? nil
        return RemoteValues(
            reading: data.map(Array.init), of: bundle.id, for: shared.withLock { $0.state.device }
        ) { [weak self] in self?.report([$0]) }
    }
}
