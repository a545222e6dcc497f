import Foundation
import UIKit

/// The homes that the user has saved, also without a network.
final class SavedController: UITableViewController {
    private let favourites: FavouriteCenter
    private var homes: [SavedRental] = []
    private var showing: Task<Void, Never>?

    init(favourites: FavouriteCenter) {
        self.favourites = favourites
        super.init(style: .plain)
    }

    required init?(coder: NSCoder) { nil }

    deinit { showing?.cancel() }

    override func viewDidLoad() {
        super.viewDidLoad()
        title = "Saved"
        tableView.register(UITableViewCell.self, forCellReuseIdentifier: "row")
        showing = Task { [weak self, favourites] in
            try? await favourites.showFavourites(as: { SavedRental() }) { homes in
                self?.homes = homes
                self?.tableView.reloadData()
            }
        }
    }

    override func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int { homes.count }

    override func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell {
        let cell = tableView.dequeueReusableCell(withIdentifier: "row", for: indexPath)
        var content = cell.defaultContentConfiguration()
        content.text = homes[indexPath.row].title
        cell.contentConfiguration = content
        return cell
    }
}
