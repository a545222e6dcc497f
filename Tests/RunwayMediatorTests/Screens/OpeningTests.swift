import RunwayMediator
import Testing

@MainActor struct OpeningTests {
    private let mediator: Mediator
    private let shell: RecordingShell

    init() { (mediator, shell) = Mediator.example() }

    @Test func pagesOpenAsTheirScreensSay() {
        #expect(mediator.open(OrdersPage.order(id: 7, tab: nil)) == .shown)
        #expect(mediator.open(OrdersPage.pay(id: 7)) == .shown)
        #expect(mediator.open(OrdersPage.list, as: Presentation("drawer")) == .shown)
        #expect(shell.shown.map(\.presentation.name) == ["push", "sheet", "drawer"])
        #expect(shell.shown.first?.screen.content(as: OrderDetails.self)?.id == 7)
        #expect(shell.shown.first?.screen.content(as: Payment.self) == nil)
        #expect(Set(shell.shown.map(\.id)).count == 3)
    }

    @Test func screensAreEmbedded() {
        let screen = mediator.screen(for: OrdersPage.list)
        #expect(screen?.content(as: OrderList.self)?.mediator === mediator)
        #expect(shell.shown.isEmpty)
        #expect(mediator.screen(for: StructPage(id: 7)) == nil)
    }

    @Test func pagesOfMissingModulesOpenOnTheSite() {
        let mediator = Mediator(fallback: .web("https://m.example.com")) { HelpModule() }
        mediator.shell = shell
        #expect(mediator.open(OrdersPage.list) == .web("https://m.example.com/orders/list"))
        #expect(shell.webAddresses == ["https://m.example.com/orders/list"])
    }

    @Test func screensOpenOtherPages() {
        mediator.open(OrdersPage.list)
        let list = shell.shown.first?.screen.content(as: OrderList.self)
        #expect(list?.mediator.open(HelpPage.faq) == .shown)
        #expect(shell.pages.last as? HelpPage == .faq)
    }

    @Test func shellsAreHeldWeakly() {
        do {
            let other = RecordingShell()
            mediator.shell = other
        }
        #expect(mediator.shell == nil)
    }

    @Test func unknownScreensAreClosedInSilence() {
        mediator.open(OrdersPage.list)
        shell.dismissLast(in: mediator)
        shell.dismissLast(in: mediator)
        #expect(shell.shown.isEmpty)
    }

    @Test func modulesAreListedWithConditions() {
        func mediator(hasHelp: Bool, isNew: Bool) -> Mediator {
            Mediator {
                if hasHelp { HelpModule() }
                if isNew { OrdersModule() } else { AccountModule() }
            }
        }
        #expect(mediator(hasHelp: true, isNew: true).screen(for: HelpPage.faq) != nil)
        #expect(mediator(hasHelp: false, isNew: false).screen(for: HelpPage.faq) == nil)
        #expect(mediator(hasHelp: false, isNew: false).screen(for: OrdersPage.list) == nil)
    }
}
