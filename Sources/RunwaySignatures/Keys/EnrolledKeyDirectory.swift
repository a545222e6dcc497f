/// A key directory to which devices add their own keys.
///
/// Use ``InMemoryKeyDirectory`` for a single server that may lose its keys, and `SQLiteEnrolmentStore` of
/// `RunwayServerStorage` to store them on disk. A server with its own database implements this protocol: each function
/// is one transaction. Identifiers, owners and devices are compared byte by byte.
public protocol EnrolledKeyDirectory: KeyDirectory {
    /// Returns the keys of an owner, including expired and revoked ones.
    func records(of owner: String) async throws -> [KeyRecord]

    /// Adds a key and ends the key that it replaces, in one transaction.
    ///
    /// - Parameters:
    ///   - record: The new key.
    ///   - replaced: The identifier of the key to replace, or `nil`.
    ///   - overlap: The time from `now` for which the replaced key stays valid. It never extends the lifetime of the
    ///     replaced key.
    ///   - maximum: The maximum number of valid keys of the owner, not counting the replaced key.
    ///   - now: The time of the enrolment.
    func enrol(
        _ record: KeyRecord, replacing replaced: String?, overlap: Duration, upTo maximum: Int, at now: UnixTime
    ) async throws -> KeyEnrolment

    /// Revokes a key of an owner: all its signatures are refused from now on. Returns `false` if the owner has no such
    /// key.
    func revoke(_ id: String, of owner: String) async throws -> Bool
}

/// The result of enrolling a key.
public enum KeyEnrolment: Sendable, Hashable {
    /// The key is in the directory, possibly since an earlier enrolment by the same device of the same owner.
    case enrolled
    /// The key belongs to another owner or device, was revoked, or has expired.
    case inUse
    /// The owner has reached the maximum number of keys.
    case full
    /// The key to replace is not a valid key of the same owner and device.
    case notReplaceable
}

extension InMemoryKeyDirectory: EnrolledKeyDirectory {
    /// Returns the keys of an owner, sorted by identifier.
    public func records(of owner: String) -> [KeyRecord] { all.filter { $0.owner.isExactly(owner) } }

    /// Adds a key and ends the key that it replaces.
    ///
    /// Ended keys stay stored, so that they cannot be enrolled again: per owner, up to `maximum` expired or replaced
    /// keys, and up to 1,000 revoked ones. Beyond that, the oldest are removed.
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

    /// Revokes a key of an owner: all its signatures are refused from now on. Returns `false` if the owner has no such
    /// key.
    public func revoke(_ id: String, of owner: String) -> Bool {
        change { records in
            guard owner.isExactly(records[ExactText(id)]?.owner) else { return false }
            records[ExactText(id)]?.isRevoked = true
            return true
        }
    }
}

/// Decides whether to accept a key that a device enrols, and which other keys of its owner to remove.
package struct KeyEnrolmentPlan: Sendable {
    package let outcome: KeyEnrolment
    /// Whether the key must be added. The other properties must then be applied in the same transaction.
    package private(set) var isNew = false
    package private(set) var removed: [String] = []
    /// The end of the replaced key's validity; `nil` if no key is replaced.
    package private(set) var replacedEnd: UnixTime?

    /// The maximum number of stored revoked keys per owner, so that one account cannot fill the directory.
    package static let maximumRevoked = 1_000

    /// - Parameters:
    ///   - record: The new key.
    ///   - present: The stored key with the same identifier, or `nil`.
    ///   - own: All keys of the new key's owner.
    ///   - replaced: The identifier of the key to replace, or `nil`.
    ///   - overlap: The time for which the replaced key stays valid.
    ///   - maximum: The maximum number of the owner's other valid keys. It is also the maximum number of the owner's
    ///     stored keys that have expired or were replaced.
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
        // Revoked keys are counted separately, since a removed key can be enrolled again, and a revoked one must not
        // be.
        let (expired, revoked) = (ended.filter { !$0.isRevoked }, ended.filter(\.isRevoked))
        removed = (expired.dropLast(maximum) + revoked.dropLast(Self.maximumRevoked)).map(\.id)
        (outcome, isNew) = (.enrolled, true)
    }
}
