/// The terms on which devices install one version of a bundle: the member `custom` of its target.
///
/// ```json
/// {"floor":3,"rollout":{"salt":"shop/release/1/manifest.json#7","share":3000},"version":7}
/// ```
package struct BundleRelease: Sendable, Hashable {
    /// The version of the manifest that the target is.
    package var version: Int64
    /// The lowest version of an app's embedded copy over which the release is installed. An app with an older copy
    /// lacks something that the release needs. The default is 0.
    package var floor: Int64
    /// The devices for which the release is meant. One that has installed it keeps it when the share falls.
    package var rollout: Rollout
    /// The kill switch: every device returns to its embedded copy, and installs nothing until the switch is off again.
    /// The default is `false`, which is not written.
    package var isStopped: Bool

    package init(version: Int64, floor: Int64 = 0, rollout: Rollout, isStopped: Bool = false) {
        (self.version, self.floor, self.rollout, self.isStopped) = (version, floor, rollout, isStopped)
    }

    /// Reads the members of `custom`, and ignores those that it does not know.
    ///
    /// - Throws: ``MalformedMetadata`` if a member is absent or invalid. The target then has no release that a device
    ///   may install.
    package init(_ custom: CanonicalObject) throws(MalformedMetadata) {
        self.init(
            version: try custom.integer("version", atLeast: 1), floor: try custom.integer("floor", atLeast: 0),
            rollout: try Rollout(try custom.object("rollout")))
        switch custom["stopped"] {
        case nil: isStopped = false
        case .bool(let value): isStopped = value
        default: throw MalformedMetadata("\"stopped\" is no Boolean")
        }
    }

    /// Returns the members of `custom`. Those that it does not know stay as they are.
    ///
    /// - Parameter present: The present value of `custom`.
    package func custom(over present: CanonicalObject = [:]) -> CanonicalObject {
        var custom = present
        custom["version"] = .integer(version)
        custom["floor"] = .integer(floor)
        custom["rollout"] = .object(rollout.object)
        custom["stopped"] = isStopped ? .bool(true) : nil
        return custom
    }
}
