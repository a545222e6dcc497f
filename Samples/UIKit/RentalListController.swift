import Foundation
import Runway
import RunwayBridge
import UIKit

/// Search as you type, and page after page. The controller holds a manager, and is its delegate.
final class RentalListController: UITableViewController, UISearchResultsUpdating, APIManagerDelegate {
    /// Opens the orders of the account.
    var openOrders: () -> Void = {}
    private let network: NetworkLayer
    private let films: FilmDownloads
    private let favourites: Task<FavouriteCenter, any Error>
    private let bridge: Bridge
    private lazy var rentals = PagedAPIManager<RentalList>(on: network, delegate: self)
    private var rows: [RentalRow] = []
    private var search: Task<Void, Never>?

    init(
        network: NetworkLayer, films: FilmDownloads, favourites: Task<FavouriteCenter, any Error>, bridge: Bridge
    ) {
        self.network = network
        self.bridge = bridge
        self.films = films
        self.favourites = favourites
        super.init(style: .plain)
    }

    required init?(coder: NSCoder) { nil }

    override func viewDidLoad() {
        super.viewDidLoad()
        title = "Rentals"
        tableView.register(UITableViewCell.self, forCellReuseIdentifier: "row")
        let search = UISearchController(searchResultsController: nil)
        search.searchResultsUpdater = self
        navigationItem.searchController = search
        let account = UIBarButtonItem(
            title: "Account",
            primaryAction: UIAction { [weak self] _ in
                guard let self else { return }
                navigationController?.pushViewController(
                    SignInController(network: network, bridge: bridge), animated: true)
            })
        let orders = UIBarButtonItem(
            title: "Orders", primaryAction: UIAction { [weak self] _ in self?.openOrders() })
        navigationItem.rightBarButtonItems = [account, orders]
        navigationItem.leftBarButtonItem = UIBarButtonItem(
            title: "Saved",
            primaryAction: UIAction { [weak self] _ in
                Task {
                    guard let self, let favourites = try? await self.favourites.value else { return }
                    self.navigationController?.pushViewController(
                        SavedController(favourites: favourites), animated: true)
                }
            })
        rentals.load(RentalList(city: ""))
    }

    // MARK: Search

    func updateSearchResults(for searchController: UISearchController) {
        let city = searchController.searchBar.text ?? ""
        // Each character cancels this task and starts another: only a pause is searched for.
        search?.cancel()
        search = Task { [weak self] in
            do { try await Task.sleep(for: .milliseconds(300)) } catch { return }
            self?.rentals.load(RentalList(city: city))
        }
    }

    // MARK: Landing

    func apiManagerDidSucceed(_ manager: any APIManaging) {
        rows = rentals.items.compactMap { RentalRow($0) }
        navigationItem.prompt = nil
        tableView.reloadData()
    }

    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) {
        // The rows that are shown stay.
        navigationItem.prompt = error.detail
    }

    // MARK: Rows

    override func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int { rows.count }

    override func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell {
        let cell = tableView.dequeueReusableCell(withIdentifier: "row", for: indexPath)
        var content = cell.defaultContentConfiguration()
        content.text = rows[indexPath.row].title
        cell.contentConfiguration = content
        return cell
    }

    override func tableView(
        _ tableView: UITableView, willDisplay cell: UITableViewCell, forRowAt indexPath: IndexPath
    ) {
        if indexPath.row == rows.count - 1 { rentals.loadNextPage() }
    }

    override func tableView(_ tableView: UITableView, didSelectRowAt indexPath: IndexPath) {
        let controller = RentalController(
            rows[indexPath.row], network: network, films: films, favourites: favourites)
        navigationController?.pushViewController(controller, animated: true)
    }
}
