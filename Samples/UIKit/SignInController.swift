import Foundation
import Runway
import UIKit

/// Signs an account in. From then on its calls carry the token, which the layer renews.
final class SignInController: UIViewController {
    private let network: NetworkLayer
    private let name = UITextField()
    private let password = UITextField()
    private let message = UILabel()
    private var attempt: Task<Void, Never>?

    init(network: NetworkLayer) {
        self.network = network
        super.init(nibName: nil, bundle: nil)
    }

    required init?(coder: NSCoder) { nil }

    override func viewDidLoad() {
        super.viewDidLoad()
        title = "Account"
        name.placeholder = "Name"
        password.placeholder = "Password"
        password.isSecureTextEntry = true
        let button = UIButton(
            type: .system, primaryAction: UIAction(title: "Sign in") { [weak self] _ in self?.start() })
        let stack = UIStackView(arrangedSubviews: [name, password, button, message])
        stack.axis = .vertical
        stack.frame = view.bounds
        view.addSubview(stack)
    }

    private func start() {
        attempt?.cancel()
        let request = TokenRequest(name: name.text ?? "", password: password.text ?? "")
        attempt = Task { [weak self, network] in
            let text = await Self.signIn(request, on: network)
            self?.message.text = text
        }
    }

    private static func signIn(_ request: TokenRequest, on network: NetworkLayer) async -> String {
        do {
            let response = try await network.call(request)
            let token = try TokenRequest.token(in: response, of: request.name ?? "", on: network)
            try await network.signIn(token, to: Listings.self)
            return "Signed in"
        } catch {
            return (error as? NetworkError)?.detail ?? "The response has no token."
        }
    }
}
