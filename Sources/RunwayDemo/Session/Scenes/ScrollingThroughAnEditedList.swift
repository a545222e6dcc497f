#if Command
    import Runway
    import RunwayJSON
    import RunwayTesting

    extension DemoSession {
        /// The maximum number of loads that a list of this catalogue can need, with a margin for new listings.
        private static let maximumLoads = 100

        /// Scrolls through a list to its end, while its team edits it between the pages.
        func scrollThroughAnEditedList() async throws {
            let lists = ListController(network: network, screen: screen)
            var editor = ListEditor(seed: seed)
            try await scene("A list scrolled to its end while it is edited: no row is missing, none is there twice") {
                try await load(lists.pages.load(SecondHandPages(city: "chengdu", district: "gaoxin")))
                while lists.pages.hasMore, editor.edits.count < Self.maximumLoads {
                    let edit = editor.next(of: homesOfDistrict)
                    catalogue.apply(edit)
                    backend.apply(edit)
                    try await load(lists.pages.loadNextPage())
                    let ids = lists.pages.items.compactMap { $0["esf_id"].string }
                    if Set(ids).count < ids.count { note("a row is there twice after \(edit)") }
                }
                judge(lists.pages, editor)
            }
            try await scene("The same list loaded anew") {
                try await load(lists.pages.reload())
                for _ in 0..<Self.maximumLoads where lists.pages.hasMore {
                    try await load(lists.pages.loadNextPage())
                }
                shouldShow(homesOfDistrict)
            }
        }

        private var homesOfDistrict: [Listing] {
            catalogue.first(.max, of: .secondHand, city: "chengdu", district: "gaoxin")
        }

        /// Checks the screen at the end of an edited list.
        private func judge(_ homes: PagedAPIManager<SecondHandPages>, _ editor: ListEditor) {
            let now = homesOfDistrict
            if !homes.isLastPage { note("the end of the list was not reached") }
            let shown = screen.lines
            // A withdrawn listing that was loaded before stays on the screen until the list is reloaded.
            let known = Set((now + editor.withdrawn).map(\.rowText))
            for line in shown where !known.contains(line) { note("\"\(line)\" is no row of the list") }
            for listing in now where !shown.contains(listing.rowText) { note("\"\(listing.rowText)\" is missing") }
            let resting = now.filter { !editor.moved.contains($0.number) }.map(\.rowText)
            let order = shown.filter(Set(resting).contains)
            shouldBe(order, resting, "the rows that stayed where they were")
        }
    }

    /// A team that edits a list while the user reads it. Each edit is drawn from a seed.
    private struct ListEditor {
        private(set) var edits: [ListingCatalogue.Edit] = []
        private(set) var withdrawn: [Listing] = []
        /// The numbers of the listings that were published during the scrolling, either for the first time or again.
        private(set) var moved: Set<Int> = []
        private var generator: SeededGenerator
        private var nextNumber = 50_001

        init(seed: UInt64) {
            // The random numbers have to differ from those of the catalogue.
            generator = SeededGenerator(seed: seed &* 4)
        }

        mutating func next(of listings: [Listing]) -> ListingCatalogue.Edit {
            let listing = generator.element(of: listings)
            let edit: ListingCatalogue.Edit
            switch generator.integer(in: 1...3) {
            case 1:
                let new = Listing(
                    kind: listing.kind, number: nextNumber, in: (listing.city, listing.district), using: &generator)
                nextNumber += 1
                moved.insert(new.number)
                edit = .publish(new)
            case 2:
                moved.insert(listing.number)
                edit = .publish(listing)
            default:
                withdrawn.append(listing)
                edit = .withdraw(listing)
            }
            edits.append(edit)
            return edit
        }
    }
#endif
