/// The keys from the root to a value, the last one first.
final class CodingPathNode {
    private var parent: CodingPathNode?
    let key: any CodingKey

    init(parent: CodingPathNode?, key: any CodingKey) {
        self.parent = parent
        self.key = key
    }

    /// Releases the nodes above one by one: a deep path would overflow the stack otherwise.
    deinit { while isKnownUniquelyReferenced(&parent) { parent = parent?.parent } }

    static func path(_ node: CodingPathNode?) -> [any CodingKey] {
        var keys: [any CodingKey] = []
        var node = node
        while let current = node {
            keys.append(current.key)
            node = current.parent
        }
        return keys.reversed()
    }
}
