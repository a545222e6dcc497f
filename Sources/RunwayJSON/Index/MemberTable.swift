/// Maps each member name of an object to the index of its first value. Used for objects whose names are data.
///
/// Names are compared by bytes; `String` keys would be compared by canonical equivalence.
struct MemberTable {
    private var places: [ArraySlice<UInt8>: Int] = [:]

    /// Indexes the members of an object in one pass. The storage must outlive the table.
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

    /// The index of the value of the first member named `name`, or -1 if the object has no such member.
    subscript(name: String) -> Int { places[Array(name.utf8)[...]] ?? -1 }
}
