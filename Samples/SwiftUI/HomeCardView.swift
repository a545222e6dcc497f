import RunwayBundles
import RunwayJSON
import RunwayViews
import SwiftUI

/// The card of a home, as the running bundle describes it.
struct HomeCardView: View {
    let cards: HomeCards
    /// The values of the card, which its taps change.
    @State var card: JSONDocument
    @State private var tree: ViewTree?
    @State private var taps = 0

    init(_ card: JSONDocument, in cards: HomeCards) {
        self.cards = cards
        _card = State(initialValue: card)
    }

    var body: some View {
        ZStack {
            if let tree {
                TreeView(tree) { event, _ in
                    card = cards.card(after: event, card)
                    taps += 1
                }
            }
        }
        .task(id: Shown(bundle: cards.bundle, taps: taps)) {
            guard let document = cards.document else { return }
            tree = await HomeCards.tree(of: document, card, after: tree)
            cards.didShow()
        }
    }

    /// The reasons for another tree.
    private struct Shown: Equatable {
        let bundle: BundleID?
        let taps: Int
    }
}
