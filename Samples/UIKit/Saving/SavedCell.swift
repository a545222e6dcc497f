import RunwayTables
import UIKit

/// A row of the list of saved homes. The cell is a record: it reads the values that it shows.
final class SavedCell: UITableViewCell {
    private(set) var id = 0
    private var content: UIListContentConfiguration {
        get { contentConfiguration as? UIListContentConfiguration ?? defaultContentConfiguration() }
        set { contentConfiguration = newValue }
    }

    /// Shows another record's values. A table view reuses its cells: each reads the home of its row when it is
    /// dequeued.
    func show(_ home: some VirtualRecord) { read(from: Draft(home)) }

    func show(_ picture: UIImage?) { content.image = picture }
}

extension SavedCell: @MainActor VirtualRecord {
    func write(to draft: inout Draft) {
        draft[FavouriteTable.rental] = id
        draft[FavouriteTable.title] = content.text
        draft[FavouriteTable.note] = content.secondaryText
    }

    func read(from draft: Draft) {
        id = draft[FavouriteTable.rental] ?? 0
        // A new configuration has no picture of the home that the cell showed before.
        var content = defaultContentConfiguration()
        content.text = draft[FavouriteTable.title]
        content.secondaryText = draft[FavouriteTable.note]
        self.content = content
    }
}
