import Runway
import SwiftUI

/// Signs an account in. From then on its calls carry the token, which the layer renews.
struct SignInView: View {
    let network: NetworkLayer
    @State private var name = ""
    @State private var password = ""
    @State private var message = ""
    @State private var isBusy = false

    var body: some View {
        Form {
            TextField("Name", text: $name)
            SecureField("Password", text: $password)
            Button("Sign in") { Task { await signIn() } }.disabled(isBusy)
            Text(message)
        }
        .navigationTitle("Account")
    }

    private func signIn() async {
        isBusy = true
        defer { isBusy = false }
        do {
            let response = try await network.call(TokenRequest(name: name, password: password))
            try await network.signIn(TokenRequest.token(in: response, of: name, on: network), to: Listings.self)
            message = "Signed in"
        } catch {
            message = (error as? NetworkError)?.detail ?? "The response has no token."
        }
    }
}
