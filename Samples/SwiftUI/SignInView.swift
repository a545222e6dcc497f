import Runway
import RunwayBridge
import RunwayScreens
import SwiftUI

/// Signs an account in and out. From the sign-in on its calls carry the token, which the layer renews; the next launch is signed in, too.
struct SignInView: View {
    let network: NetworkLayer
    let bridge: Bridge
    let cards: HomeCards?
    @State private var account: String?
    @State private var name = ""
    @State private var password = ""
    @State private var message = ""
    @State private var isBusy = false

    init(network: NetworkLayer, bridge: Bridge, cards: HomeCards?) {
        (self.network, self.bridge, self.cards) = (network, bridge, cards)
        // After a launch it is who was signed in when the app ended.
        _account = State(initialValue: network.settings(of: Listings.self).account)
    }

    var body: some View {
        Form {
            if let account {
                Text("Signed in as \(account)")
                Button("Sign out") { Task { await signOut() } }.disabled(isBusy)
            } else {
                TextField("Name", text: $name)
                SecureField("Password", text: $password)
                Button("Sign in") { Task { await signIn() } }.disabled(isBusy)
            }
            Text(message)
        }
        .navigationTitle("Account")
        .screen("account")
    }

    private func signIn() async {
        isBusy = true
        defer { isBusy = false }
        message = await network.signInToListings(as: name, password)
        account = network.settings(of: Listings.self).account
    }

    private func signOut() async {
        isBusy = true
        defer { isBusy = false }
        message = await network.signOutOfListings()
        // The pages of the shop end their calls, lose their data and are loaded again.
        bridge.signOut()
        await cards?.signOut()
        account = network.settings(of: Listings.self).account
    }
}
