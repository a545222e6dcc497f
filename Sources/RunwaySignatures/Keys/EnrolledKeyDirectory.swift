/// A directory of keys to which devices add keys of their own.
///
/// Use ``InMemoryKeyDirectory`` for a single server that may lose its keys, and `SQLiteEnrolmentStore` of
/// `RunwayServerStorage` to keep them over a restart. A server implements the protocol over its own database: each
/// function is one transaction. Identifiers, owners and devices are compared byte by byte.
public protocol EnrolledKeyDirectory: KeyDirectory {
    /// Returns the keys of an owner, including those that are no longer accepted.
    func records(of owner: String) async throws -> [KeyRecord]

    /// Adds a key, and ends the key that it replaces, both or neither.
    ///
    /// - Parameters:
    ///   - record: The new key.
    ///   - replaced: The identifier of the key to replace; `nil` to replace none.
    ///   - overlap: The time from `now` on for which the replaced key is still accepted. It never extends the replaced
    ///     key's own end.
    ///   - maximum: The most keys of the owner that may be accepted at the same time, not counting the replaced key.
    ///   - now: The time of the enrolment.
    func enrol(
        _ record: KeyRecord, replacing replaced: String?, overlap: Duration, upTo maximum: Int, at now: UnixTime
    ) async throws -> KeyEnrolment

    /// Refuses all signatures by a key of an owner from now on. Returns `false` if the owner has no such key.
    func revoke(_ id: String, of owner: String) async throws -> Bool
}

/// The result of enrolling a key.
public enum KeyEnrolment: Sendable, Hashable {
    /// The key is in the directory, perhaps since an earlier enrolment by the same owner's device.
    case enrolled
    /// The key belongs to another owner or device, was revoked, or has ended.
    case inUse
    /// The owner has as many keys as are allowed.
    case full
    /// The key to replace is not an accepted key of the same owner and device.
    case notReplaceable
}

extension InMemoryKeyDirectory: EnrolledKeyDirectory {
    /// Returns the keys of an owner, sorted by identifier.
    public func records(of owner: String) -> [KeyRecord] { all.filter { $0.owner.isExactly(owner) } }

    /// Adds a key, and ends the key that it replaces, both or neither.
    ///
    /// The directory remembers an owner's ended keys, since a remembered key can't be enrolled again: up to `maximum`
    /// keys that expired or were replaced, and up to 1,000 that were revoked. The oldest are removed.
    public func enrol(
        _ record: KeyRecord, replacing replaced: String?, overlap: Duration, upTo maximum: Int, at now: UnixTime
    ) -> KeyEnrolment {
        change { records in
            let plan = KeyEnrolmentPlan(
                record, present: records[ExactText(record.id)],
                own: records.values.filter { $0.owner.isExactly(record.owner) }, replacing: replaced, overlap: overlap,
                upTo: maximum, at: now)
            guard plan.isNew else { return plan.outcome }
            for id in plan.removed { records[ExactText(id)] = nil }
            if let replaced { records[ExactText(replaced)]?.notAfter = plan.replacedEnd }
            records[ExactText(record.id)] = record
            return plan.outcome
        }
    }

    /// Refuses all signatures by a key of an owner from now on. Returns `false` if the owner has no such key.
    public func revoke(_ id: String, of owner: String) -> Bool {
        change { records in
            guard owner.isExactly(records[ExactText(id)]?.owner) else { return false }
            records[ExactText(id)]?.isRevoked = true
            return true
        }
    }
}

/// Decides whether a key that a device enrols is accepted, and which other keys of its owner remain.
package struct KeyEnrolmentPlan: Sendable {
    /// The result of enrolling the key.
    package let outcome: KeyEnrolment
    /// Whether the key is to be added. The other properties then have to be applied in the same transaction.
    package private(set) var isNew = false
    /// The identifiers of ended keys to remove.
    package private(set) var removed: [String] = []
    /// The last moment at which the replaced key is accepted; `nil` if no key is replaced.
    package private(set) var replacedEnd: UnixTime?

    /// The most revoked keys of an owner that are remembered: the limit keeps an account from filling the directory.
    package static let maximumRevoked = 1_000

    /// - Parameters:
    ///   - record: The new key.
    ///   - present: The key with the same identifier, if there is one.
    ///   - own: All keys of the new key's owner.
    ///   - replaced: The identifier of the key to replace; `nil` to replace none.
    ///   - overlap: The time for which the replaced key is still accepted.
    ///   - maximum: The most other keys of the owner that may be accepted at the same time. As many ended keys that
    ///     were not revoked are remembered.
    ///   - now: The time of the enrolment.
    package init(
        _ record: KeyRecord, present: KeyRecord?, own: [KeyRecord], replacing replaced: String?, overlap: Duration,
        upTo maximum: Int, at now: UnixTime
    ) {
        if let present {
            let isSame = present.isSame(owner: record.owner, device: record.device)
            outcome = isSame && present.isActive(at: now) ? .enrolled : .inUse
            return
        }
        if let replaced {
            guard let old = own.first(where: { $0.id.isExactly(replaced) }),
                old.isSame(owner: record.owner, device: record.device), old.isActive(at: now)
            else {
                outcome = .notReplaceable
                return
            }
            replacedEnd = min(old.notAfter ?? now + overlap, now + overlap)
        }
        let others = own.filter { !$0.id.isExactly(replaced) }
        guard others.count(where: { $0.isActive(at: now) }) < maximum else {
            outcome = .full
            return
        }
        let ended = others.filter { !$0.isActive(at: now) }.sorted {
            ($0.notBefore?.seconds ?? .min) < ($1.notBefore?.seconds ?? .min)
        }
        // A key that was removed can be enrolled again, as a revoked one must not be.
        let (expired, revoked) = (ended.filter { !$0.isRevoked }, ended.filter(\.isRevoked))
        removed = (expired.dropLast(maximum) + revoked.dropLast(Self.maximumRevoked)).map(\.id)
        (outcome, isNew) = (.enrolled, true)
    }
}
