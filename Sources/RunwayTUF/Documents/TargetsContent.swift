package import RunwaySignatures

/// A file that targets metadata lists (§4.5).
package struct TargetFile: Sendable {
    /// The path relative to the base URL of targets.
    package let path: String
    package let digest: FileDigest
    /// The members that the repository adds for the app; empty if the document has no member `custom`.
    package let custom: CanonicalObject

    package init(path: String, digest: FileDigest, custom: CanonicalObject = [:]) {
        (self.path, self.digest, self.custom) = (path, digest, custom)
    }

    init(_ path: String, _ object: CanonicalObject) throws(MalformedMetadata) {
        self.init(
            path: path, digest: try FileDigest(object, isRequired: true),
            custom: object["custom"] == nil ? [:] : try object.object("custom"))
    }

    /// The member as a document lists it.
    package var object: CanonicalObject {
        var object = digest.object
        if !custom.members.isEmpty { object["custom"] = .object(custom) }
        return object
    }
}

/// The files of a role, and the roles to which it delegates (§4.5).
package struct TargetsContent: RoleContent {
    package static var type: String { "targets" }

    package let files: [ExactText: TargetFile]
    /// The keys of all delegations.
    package let keys: KeyTable?
    /// The delegations in the order in which they are searched.
    package let delegations: [Delegation]

    package init(_ signed: CanonicalObject) throws(MalformedMetadata) {
        var files: [ExactText: TargetFile] = [:]
        for (path, object) in try signed.objects("targets") { files[ExactText(path)] = try TargetFile(path, object) }
        self.files = files
        guard signed["delegations"] != nil else {
            (keys, delegations) = (nil, [])
            return
        }
        let object = try signed.object("delegations")
        keys = try KeyTable(in: object)
        var delegations: [Delegation] = []
        for element in try object.array("roles") {
            guard case .object(let role) = element else { throw MalformedMetadata("a delegation is no object") }
            delegations.append(try Delegation(role))
        }
        guard Set(delegations.map { ExactText($0.name) }).count == delegations.count else {
            throw MalformedMetadata("two delegations have the same name")
        }
        self.delegations = delegations
    }
}
