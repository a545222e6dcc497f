package import RunwaySignatures

/// One document of a role: what all roles have in common (§4.3), and the content of the role.
package struct Metadata<Content: RoleContent>: Sendable {
    package let document: SignedDocument
    package let version: Int64
    package let expires: UnixTime
    package let content: Content

    /// Reads a document. Throws ``MalformedMetadata`` if its form is wrong, if it is of another type, or if it was
    /// written by another major version of the specification.
    package init(_ document: SignedDocument) throws(MalformedMetadata) {
        let signed = document.signed
        let type = try signed.string("_type")
        guard type == Content.type else { throw MalformedMetadata("its type is \"\(type)\", not \"\(Content.type)\"") }
        let specification = try signed.string("spec_version").split(separator: ".", omittingEmptySubsequences: false)
        let areNumbers = specification.allSatisfy { part in
            (1...9).contains(part.utf8.count) && part.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
        }
        guard areNumbers, specification.first == "1", (2...3).contains(specification.count) else {
            throw MalformedMetadata("its \"spec_version\" is not 1")
        }
        guard let expires = UnixTime(metadata: try signed.string("expires")) else {
            throw MalformedMetadata("\"expires\" is no time in the form 2030-01-01T00:00:00Z")
        }
        version = try signed.integer("version", atLeast: 1)
        content = try Content(signed)
        (self.document, self.expires) = (document, expires)
    }

    /// Returns whether the document has expired: its expiry is not later than a time.
    package func hasExpired(at time: UnixTime) -> Bool { expires <= time }
}

/// The members that one role's documents have beyond those of all roles.
package protocol RoleContent: Sendable {
    /// The value of `_type`.
    static var type: String { get }

    /// Reads the signed part of a document. Throws ``MalformedMetadata`` if a member is absent or invalid.
    init(_ signed: CanonicalObject) throws(MalformedMetadata)
}
