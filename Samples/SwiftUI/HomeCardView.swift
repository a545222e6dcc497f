import RunwayBundles
import RunwayJSON
import RunwayMediator
import RunwayScreens
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
        .task(id: Shown(bundle: cards.design?.bundle, taps: taps)) {
            guard let design = cards.design else { return }
            tree = await cards.tree(of: card, in: design, after: tree)
            cards.didShow(design)
        }
    }

    /// The reasons for another tree.
    private struct Shown: Equatable {
        let bundle: BundleID?
        let taps: Int
    }
}

/// What the card may open: a script of its bundle chooses the address, such as `app://homes/map?id=7`.
enum HomePage: Page {
    static let module = "homes"
    case map(id: String)
    var reach: Reach { .pages }
}

struct HomeModule: Module {
    func screen(for page: HomePage, in mediator: Mediator) -> Screen {
        switch page {
        case .map(let id): Screen(Text("The map around home \(id)").navigationTitle("Map").screen("map"))
        }
    }
}
