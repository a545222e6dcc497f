import Foundation
import Runway
import RunwayBridge
import UIKit

/// Signs an account in and out. From the sign-in on its calls carry the token, which the layer renews; the next launch is signed in, too.
final class SignInController: UIViewController {
    private let network: NetworkLayer
    private let bridge: Bridge
    private let name = UITextField()
    private let password = UITextField()
    private let message = UILabel()
    private var attempt: Task<Void, Never>?

    init(network: NetworkLayer, bridge: Bridge) {
        (self.network, self.bridge) = (network, bridge)
        super.init(nibName: nil, bundle: nil)
    }

    required init?(coder: NSCoder) { nil }

    override func viewDidLoad() {
        super.viewDidLoad()
        title = "Account"
        name.placeholder = "Name"
        password.placeholder = "Password"
        password.isSecureTextEntry = true
        let signIn = UIButton(
            type: .system, primaryAction: UIAction(title: "Sign in") { [weak self] _ in self?.signIn() })
        let signOut = UIButton(
            type: .system, primaryAction: UIAction(title: "Sign out") { [weak self] _ in self?.signOut() })
        let stack = UIStackView(arrangedSubviews: [name, password, signIn, signOut, message])
        stack.axis = .vertical
        stack.frame = view.bounds
        view.addSubview(stack)
        // After a launch it is who was signed in when the app ended.
        message.text = network.settings(of: Listings.self).account.map { "Signed in as \($0)" }
    }

    private func signIn() {
        let (name, password) = (name.text ?? "", password.text ?? "")
        start { [network] in await network.signInToListings(as: name, password) }
    }

    private func signOut() {
        start { [network, bridge] in
            let text = await network.signOutOfListings()
            // The pages of the shop end their calls, lose their data and are loaded again.
            bridge.signOut()
            return text
        }
    }

    private func start(_ work: @escaping () async -> String) {
        attempt?.cancel()
        attempt = Task { [weak self] in
            let text = await work()
            self?.message.text = text
        }
    }
}
