/// The screens of a window: a stack, and the stacks that are presented above it.
///
/// Decides for ``StackShell`` and `NavigationShell`, which show it.
struct ScreenLayers: Sendable {
    /// A screen in a stack.
    struct Entry: Identifiable, Hashable, Sendable {
        let id: ScreenID
        let screen: Screen

        static func == (one: Entry, other: Entry) -> Bool { one.id == other.id }
        func hash(into hasher: inout Hasher) { hasher.combine(id) }
    }

    /// A stack. The lowest one may be empty: the window then shows the root of the app.
    struct Layer: Identifiable, Sendable {
        /// The screen with which the stack was presented; `nil` for the lowest one.
        let id: ScreenID?
        /// For the lowest layer, ``Presentation/root`` if its first screen replaces the root of the app.
        var presentation: Presentation
        var entries: [Entry]

        /// The number of entries that are the root of the stack, and not pushed onto it: 0 or 1.
        var rootCount: Int { presentation == .push ? 0 : 1 }
    }

    private(set) var all = [Layer(id: nil, presentation: .push, entries: [])]

    /// Adds a screen. An unknown presentation is a push.
    ///
    /// - Returns: The screens that are closed for it, from the top.
    mutating func show(_ entry: Entry, as presentation: Presentation) -> [ScreenID] {
        switch presentation {
        case .sheet, .cover:
            all.append(Layer(id: entry.id, presentation: presentation, entries: [entry]))
            return []
        case .root:
            let closed = cut(nil, to: 0)
            all[0] = Layer(id: nil, presentation: .root, entries: [entry])
            return closed
        default:
            all[all.count - 1].entries.append(entry)
            return []
        }
    }

    /// Removes a screen with all that are above it, since they were opened from it.
    ///
    /// - Returns: The screens that are closed, from the top.
    mutating func close(_ id: ScreenID) -> [ScreenID] {
        for layer in all {
            guard let index = layer.entries.firstIndex(where: { $0.id == id }) else { continue }
            return cut(layer.id, to: index)
        }
        return []
    }

    /// Removes screens that were shown and are gone. A screen that is not shown yet moves to the stack below its own if
    /// that one is gone.
    mutating func remove(_ gone: [ScreenID]) {
        for depth in all.indices.reversed() {
            all[depth].entries.removeAll { gone.contains($0.id) }
            guard depth > 0, let id = all[depth].id, gone.contains(id) else { continue }
            all[depth - 1].entries += all[depth].entries
            all.remove(at: depth)
        }
        if all[0].entries.isEmpty { all[0].presentation = .push }
    }

    /// Removes all but the first screens of a stack, and the stacks above it. A presented stack without screens is
    /// removed.
    ///
    /// - Parameters:
    ///   - layer: The stack. If it is gone, nothing happens.
    ///   - count: The number of screens that remain. If it has no more of them, nothing happens.
    /// - Returns: The screens that are closed, from the top.
    mutating func cut(_ layer: ScreenID?, to count: Int) -> [ScreenID] {
        guard let depth = all.firstIndex(where: { $0.id == layer }) else { return [] }
        let isWhole = count >= all[depth].entries.count
        if isWhole, depth > 0 || count > 0 || all.count == 1 { return [] }
        let closed = all[depth].entries.dropFirst(count) + all[(depth + 1)...].flatMap(\.entries)
        all.removeSubrange((depth + 1)...)
        all[depth].entries.removeSubrange(min(count, all[depth].entries.count)...)
        if all[depth].entries.isEmpty {
            if depth > 0 { all.removeLast() } else { all[0].presentation = .push }
        }
        return closed.reversed().map(\.id)
    }
}
