import Runway
import RunwayBridge
import RunwayMediator
import UIKit
import WebKit

/// A page of the shop's web site, which may call what the bridge grants its origin.
final class ShopController: UIViewController {
    private let address: String
    private let web: WKWebView

    /// Creates the controller. The web view asks the mediator about each link that the user taps in the page.
    init(_ address: String, bridge: Bridge, mediator: Mediator) {
        self.address = address
        web = bridge.makeWebView(mediator: mediator)
        super.init(nibName: nil, bundle: nil)
    }

    required init?(coder: NSCoder) { nil }

    override func loadView() { view = web }

    override func viewDidLoad() {
        super.viewDidLoad()
        title = "Orders"
        if let url = URL(string: address) { web.load(URLRequest(url: url)) }
    }
}

/// The addresses of the user, of which the caller of the page receives one.
final class AddressController: UITableViewController {
    private let reply: Reply<Address>

    init(_ reply: Reply<Address>) {
        self.reply = reply
        super.init(style: .plain)
    }

    required init?(coder: NSCoder) { nil }

    override func viewDidLoad() {
        super.viewDidLoad()
        title = "Addresses"
        tableView.register(UITableViewCell.self, forCellReuseIdentifier: "address")
    }

    override func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int { Address.all.count }

    override func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell {
        let cell = tableView.dequeueReusableCell(withIdentifier: "address", for: indexPath)
        var content = cell.defaultContentConfiguration()
        content.text = "\(Address.all[indexPath.row].street), \(Address.all[indexPath.row].city)"
        cell.contentConfiguration = content
        return cell
    }

    override func tableView(_ tableView: UITableView, didSelectRowAt indexPath: IndexPath) {
        reply.finish(Address.all[indexPath.row])
    }
}

struct AddressModule: Module {
    func screen(for page: AddressPage, in mediator: Mediator) -> Screen {
        switch page {
        case .pick(let reply): Screen(AddressController(reply), as: .sheet)
        }
    }
}
