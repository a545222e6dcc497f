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
        tableView.register(SavedCell.self, forCellReuseIdentifier: "row")
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
        let home = homes[indexPath.row]
        guard let cell = cell as? SavedCell else { return cell }
        cell.show(home)
        if home.hasPicture {
            Task { [favourites] in
                // Meanwhile the cell may have been reused for another home.
                guard let url = try? await favourites.picture(of: home.id), cell.id == home.id else { return }
                cell.show(UIImage(contentsOfFile: url.path))
            }
        }
        return cell
    }
}
