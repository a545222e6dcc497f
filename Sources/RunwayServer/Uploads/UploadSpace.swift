import RunwaySignatures

/// The number and the bytes of uploads: of all together, of each owner and of each source.
struct UploadSpace: Sendable {
    /// A client that has a share of the space.
    enum Holder: Hashable {
        case owner(ExactText)
        case source(ExactText)
    }

    private struct Use {
        var uploads = 0
        var byteCount = 0
    }

    /// The reason why there is no space for a request.
    enum Shortage: Error { case uploads, uploadsOfHolder, bytes }

    let limits: UploadLimits
    private var total = Use()
    private var uses: [Holder: Use] = [:]

    init(_ limits: UploadLimits) { self.limits = limits }

    /// Counts an upload from before a restart of the server, even beyond the limits.
    mutating func restore(_ byteCount: Int, of holders: [Holder]) {
        change(holders) { use in
            use.uploads += 1
            use.byteCount += byteCount
        }
    }

    /// Counts another upload, which has no bytes yet.
    ///
    /// - Parameter announced: The number of bytes that the upload will have. None are reserved, since a client can
    ///   announce bytes that it never sends; an upload for which there is no space now is refused before it is sent.
    mutating func add(announcing announced: Int, of holders: [Holder]) throws(Shortage) {
        guard total.uploads < limits.maximumUploads else { throw .uploads }
        for holder in holders where uses[holder]?.uploads ?? 0 >= share(of: holder).maximumUploads {
            throw .uploadsOfHolder
        }
        guard hasRoom(for: announced, of: holders) else { throw .bytes }
        change(holders) { $0.uploads += 1 }
    }

    /// Removes an upload, and the bytes that are still reserved for it.
    mutating func remove(_ byteCount: Int, of holders: [Holder]) {
        change(holders) { use in
            use.uploads -= 1
            use.byteCount -= byteCount
        }
    }

    /// Reserves received bytes; returns `false`, and reserves none, if fewer are left.
    mutating func reserve(_ byteCount: Int, of holders: [Holder]) -> Bool {
        guard hasRoom(for: byteCount, of: holders) else { return false }
        change(holders) { $0.byteCount += byteCount }
        return true
    }

    mutating func release(_ byteCount: Int, of holders: [Holder]) { change(holders) { $0.byteCount -= byteCount } }

    private func hasRoom(for byteCount: Int, of holders: [Holder]) -> Bool {
        func fits(_ use: Use?, _ maximum: Int) -> Bool {
            let (sum, overflows) = byteCount.addingReportingOverflow(use?.byteCount ?? 0)
            return !overflows && sum <= maximum
        }
        return fits(total, limits.maximumTotalByteCount)
            && holders.allSatisfy { fits(uses[$0], share(of: $0).maximumByteCount) }
    }

    private func share(of holder: Holder) -> UploadShare {
        switch holder {
        case .owner: limits.ownerShare ?? share(4, of: limits.maximumUploads, limits.maximumTotalByteCount)
        case .source: limits.sourceShare ?? shareOfRest(for: holder)
        }
    }

    /// Returns a tenth of the space that the other holders leave.
    private func shareOfRest(for holder: Holder) -> UploadShare {
        let own = uses[holder] ?? Use()
        return share(
            10, of: limits.maximumUploads - total.uploads + own.uploads,
            limits.maximumTotalByteCount - total.byteCount + own.byteCount)
    }

    /// Returns a part of the space, and at least one upload of the largest size.
    private func share(_ divisor: Int, of uploads: Int, _ byteCount: Int) -> UploadShare {
        UploadShare(
            maximumUploads: uploads / divisor, maximumByteCount: max(byteCount / divisor, limits.maximumByteCount))
    }

    private mutating func change(_ holders: [Holder], _ change: (inout Use) -> Void) {
        change(&total)
        for holder in holders {
            change(&uses[holder, default: Use()])
            if uses[holder]?.uploads == 0 { uses[holder] = nil }
        }
    }
}
