/// A directory of keys in which devices enrol keys of their own.
///
/// ``InMemoryKeyDirectory`` is one for a single server that may forget its keys; `SQLiteEnrolmentStore` of
/// `RunwayServerStorage` is one that survives a restart. A server implements the protocol over its database: each
/// function is one transaction. Identifiers, owners and devices are compared byte by byte.
public protocol EnrolledKeyDirectory: KeyDirectory {
    /// The keys of an owner, also those that are not accepted any more.
    func records(of owner: String) async throws -> [KeyRecord]

    /// Adds a key, and ends the one that it replaces, both or neither.
    ///
    /// - Parameters:
    ///   - record: The new key.
    ///   - replaced: The identifier of the key that it replaces.
    ///   - overlap: How long the replaced key is still accepted, from `now` on; never longer than before.
    ///   - maximum: How many keys of the owner may be accepted at the same time, without the replaced one.
    ///   - now: The time of the enrolment.
    func enrol(
        _ record: KeyRecord, replacing replaced: String?, overlap: Duration, upTo maximum: Int, at now: UnixTime
    ) async throws -> KeyEnrolment

    /// Refuses all signatures of a key of an owner from now on. Returns `false` if the owner has no such key.
    func revoke(_ id: String, of owner: String) async throws -> Bool
}

/// What became of a key that a device enrols.
public enum KeyEnrolment: Sendable, Hashable {
    /// It is in the directory; also if the same owner's device enrolled it before.
    case enrolled
    /// It belongs to another owner or device, or was revoked, or has ended.
    case inUse
    /// The owner has as many keys as are allowed.
    case full
    /// The key that it should replace is not an accepted one of the same owner and device.
    case notReplaceable
}

extension InMemoryKeyDirectory: EnrolledKeyDirectory {
    /// The keys of an owner, sorted by identifier.
    public func records(of owner: String) -> [KeyRecord] { all.filter { $0.owner.isExactly(owner) } }

    /// Adds a key, and ends the one that it replaces, both or neither.
    ///
    /// Of the keys of an owner that have expired or were replaced, as many are remembered as may be accepted, and of
    /// those that were revoked 1,000; the oldest are removed. A key that is remembered can't be enrolled again.
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

    /// Refuses all signatures of a key of an owner from now on. Returns `false` if the owner has no such key.
    public func revoke(_ id: String, of owner: String) -> Bool {
        change { records in
            guard owner.isExactly(records[ExactText(id)]?.owner) else { return false }
            records[ExactText(id)]?.isRevoked = true
            return true
        }
    }
}

/// Decides whether a key that a device enrols is accepted, and which other keys of its owner stay.
package struct KeyEnrolmentPlan: Sendable {
    /// What becomes of the key.
    package let outcome: KeyEnrolment
    /// Whether the key is to be added, and the following to be done; all in one transaction.
    package private(set) var isNew = false
    /// The identifiers of ended keys that are to be removed.
    package private(set) var removed: [String] = []
    /// The last moment at which the replaced key is accepted; `nil` if none is replaced.
    package private(set) var replacedEnd: UnixTime?

    /// The most revoked keys of an owner that are remembered, so that an account cannot fill the directory.
    package static let maximumRevoked = 1_000

    /// - Parameters:
    ///   - record: The new key.
    ///   - present: The key with the same identifier, if there is one.
    ///   - own: All keys of the owner of the new one.
    ///   - replaced: The identifier of the key that it replaces.
    ///   - overlap: How long the replaced key is still accepted.
    ///   - maximum: How many other keys of the owner may be accepted at the same time. As many that have ended without
    ///     revocation are remembered.
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
