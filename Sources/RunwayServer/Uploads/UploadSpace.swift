import RunwaySignatures

/// The number and the size of uploads: in total, per owner and per source.
struct UploadSpace: Sendable {
    /// An owner or a source with a share of the space.
    enum Holder: Hashable {
        case owner(ExactText)
        case source(ExactText)
    }

    private struct Use {
        var uploads = 0
        var byteCount = 0
    }

    /// The limit because of which an upload gets no space.
    enum Shortage: Error { case uploads, uploadsOfHolder, bytes }

    let limits: UploadLimits
    private var total = Use()
    private var uses: [Holder: Use] = [:]

    init(_ limits: UploadLimits) { self.limits = limits }

    /// Counts an upload from before a restart of the server, even if it exceeds the limits.
    mutating func restore(_ byteCount: Int, of holders: [Holder]) {
        change(holders) { use in
            use.uploads += 1
            use.byteCount += byteCount
        }
    }

    /// Counts a new upload without bytes.
    ///
    /// - Parameter announced: The number of bytes that the upload will have. They are checked against the limits, so
    ///   that an upload without space is refused before it is sent. They are not reserved, since a client may never
    ///   send them.
    mutating func add(announcing announced: Int, of holders: [Holder]) throws(Shortage) {
        guard total.uploads < limits.maximumUploads else { throw .uploads }
        for holder in holders where uses[holder]?.uploads ?? 0 >= share(of: holder).maximumUploads {
            throw .uploadsOfHolder
        }
        guard hasRoom(for: announced, of: holders) else { throw .bytes }
        change(holders) { $0.uploads += 1 }
    }

    /// Removes an upload and its reserved bytes.
    mutating func remove(_ byteCount: Int, of holders: [Holder]) {
        change(holders) { use in
            use.uploads -= 1
            use.byteCount -= byteCount
        }
    }

    /// Reserves received bytes. Returns `false` and reserves nothing if too few bytes are left.
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

    /// Returns a fraction of the space, but at least the space for one upload of the maximum size.
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
