import Runway
import RunwayBridge
import RunwayMediator
import SwiftUI
import UIKit
import WebKit

/// A page of the shop's web site, which may call what the bridge grants its origin.
struct ShopView: UIViewRepresentable {
    let address: String
    let bridge: Bridge
    /// The web view asks it about each link that the user taps in the page.
    let mediator: Mediator

    func makeUIView(context: Context) -> WKWebView {
        let view = bridge.makeWebView(mediator: mediator)
        if let url = URL(string: address) { view.load(URLRequest(url: url)) }
        return view
    }

    func updateUIView(_ view: WKWebView, context: Context) {}
}

/// The addresses of the user, of which the caller of the page receives one.
struct AddressView: View {
    let reply: Reply<Address>

    var body: some View {
        List {
            ForEach(Address.all) { address in
                Button("\(address.street), \(address.city)") { reply.finish(address) }
            }
        }
        .navigationTitle("Addresses")
    }
}

struct AddressModule: Module {
    func screen(for page: AddressPage, in mediator: Mediator) -> Screen {
        switch page {
        case .pick(let reply): Screen(AddressView(reply: reply), as: .sheet)
        }
    }
}
