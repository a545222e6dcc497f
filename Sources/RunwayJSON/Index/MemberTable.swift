/// The values of an object's members by their names, the first of each, for objects whose names are data.
///
/// Names are compared by their bytes, which a `String` would compare by equivalence.
struct MemberTable {
    private var places: [ArraySlice<UInt8>: Int] = [:]

    /// Indexes the members of an object in one pass. The table stays valid as long as the storage.
    init(ofObjectAt object: Int, in storage: JSONStorage) {
        places.reserveCapacity(storage.count(at: object))
        for member in JSONValue(storage: storage, index: object).members {
            let index = member.value.index
            let name = storage.name(ofValueAt: index).string(in: storage.bytes)
            let isEscaped = name.tag == .escapedString
            let bytes =
                isEscaped
                ? Array(member.key.utf8)[...] : storage.bytes[name.offset..<(name.offset &+ name.extent)]
            if places[bytes] == nil { places[bytes] = index }
        }
    }

    /// Returns the index of the value of the first member with a name; -1 if there is none.
    subscript(name: String) -> Int { places[Array(name.utf8)[...]] ?? -1 }
}
