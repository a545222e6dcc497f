import RunwaySignatures

/// The members of an object, sorted by the UTF-8 bytes of their names. Names are compared byte by byte.
package struct CanonicalObject: Sendable, ExpressibleByDictionaryLiteral {
    package typealias Member = (name: String, value: CanonicalValue)

    package private(set) var members: [Member]

    /// Sorts members. Returns `nil` if two have the same name.
    package init?(distinct members: [Member]) {
        let sorted = members.sorted { ExactText($0.name) < ExactText($1.name) }
        for (one, next) in zip(sorted, sorted.dropFirst()) where one.name.isExactly(next.name) { return nil }
        self.members = sorted
    }

    /// Creates an object from a literal, in which no name may occur twice.
    package init(dictionaryLiteral elements: (String, CanonicalValue)...) {
        guard let object = CanonicalObject(distinct: elements.map { ($0.0, $0.1) }) else {
            preconditionFailure("a name occurs twice in a literal")
        }
        self = object
    }

    /// The value of a member; `nil` removes the member.
    package subscript(name: String) -> CanonicalValue? {
        get { index(of: name).map { members[$0].value } }
        set {
            if let index = index(of: name) {
                if let newValue { members[index].value = newValue } else { members.remove(at: index) }
            } else if let newValue {
                let place = members.firstIndex { ExactText(name) < ExactText($0.name) } ?? members.endIndex
                members.insert((name, newValue), at: place)
            }
        }
    }

    /// Appends a member whose name comes after all others. Takes constant time.
    mutating func append(_ name: String, _ value: CanonicalValue) {
        precondition(members.last.map { ExactText($0.name) < ExactText(name) } ?? true, "names are not in order")
        members.append((name, value))
    }

    private func index(of name: String) -> Int? { members.firstIndex { $0.name.isExactly(name) } }
}

// MARK: - Required members

extension CanonicalObject {
    /// Returns the text of a member. Throws ``MalformedMetadata`` if it is absent or no string.
    func string(_ name: String) throws(MalformedMetadata) -> String {
        guard case .string(let text)? = self[name] else { throw MalformedMetadata("\"\(name)\" is no string") }
        return text
    }

    /// Returns the number of a member. Throws ``MalformedMetadata`` if it is absent, no integer, or below `minimum`.
    package func integer(_ name: String, atLeast minimum: Int64) throws(MalformedMetadata) -> Int64 {
        guard case .integer(let number)? = self[name], number >= minimum else {
            throw MalformedMetadata("\"\(name)\" is no integer of at least \(minimum)")
        }
        return number
    }

    /// Returns the object of a member. Throws ``MalformedMetadata`` if it is absent or no object.
    func object(_ name: String) throws(MalformedMetadata) -> CanonicalObject {
        guard case .object(let object)? = self[name] else { throw MalformedMetadata("\"\(name)\" is no object") }
        return object
    }

    /// Returns the elements of a member. Throws ``MalformedMetadata`` if it is absent or no array.
    func array(_ name: String) throws(MalformedMetadata) -> [CanonicalValue] {
        guard case .array(let elements)? = self[name] else { throw MalformedMetadata("\"\(name)\" is no array") }
        return elements
    }

    /// Returns the texts of a member, which must be distinct if `areDistinct`. Throws ``MalformedMetadata`` otherwise.
    func strings(_ name: String, areDistinct: Bool = false) throws(MalformedMetadata) -> [String] {
        var texts: [String] = []
        for element in try array(name) {
            guard case .string(let text) = element else { throw MalformedMetadata("\"\(name)\" has no strings only") }
            texts.append(text)
        }
        if areDistinct, Set(texts.map(ExactText.init)).count != texts.count {
            throw MalformedMetadata("\"\(name)\" has an element twice")
        }
        return texts
    }

    /// Returns the objects in a member that is an object of objects, by name. Throws ``MalformedMetadata`` otherwise.
    func objects(_ name: String) throws(MalformedMetadata) -> [(name: String, object: CanonicalObject)] {
        var objects: [(name: String, object: CanonicalObject)] = []
        for member in try object(name).members {
            guard case .object(let object) = member.value else {
                throw MalformedMetadata("\"\(member.name)\" in \"\(name)\" is no object")
            }
            objects.append((member.name, object))
        }
        return objects
    }
}
