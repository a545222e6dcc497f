import Testing

@testable import RunwayScreens

@MainActor struct RuleTests {
    @Test func rulesConfigureTheirControllers() {
        let (list, details) = (OrderList(), OrderDetails())
        for controller in [list, details] { rules.configure(controller, isOwn: true, at: .loaded) }
        #expect(list.isPaper && details.isPaper && !details.isBarHidden)
        for controller in [list, details] { rules.configure(controller, isOwn: true, at: .beforeAppearing) }
        #expect(!list.isBarHidden && details.isBarHidden)
    }

    @Test func laterRuleHasTheLastWord() {
        let details = OrderDetails()
        let rules: [ScreenRule] =
            rules + [.whenLoaded(OrderDetails.self) { $0.isPaper = false }, .screen(OrderDetails.self, "special")]
        rules.configure(details, isOwn: true, at: .loaded)
        #expect(!details.isPaper && rules.name(of: details, isOwn: true) == "special")
    }

    @Test func namesFollowTheState() {
        let details = OrderDetails()
        #expect(rules.name(of: details, isOwn: true) == "order" && rules.name(of: OrderList(), isOwn: true) == "orders")
        details.isDraft = true
        // No screen, although an earlier rule may state a name.
        #expect(([.screen(Controller.self, "any")] + rules).name(of: details, isOwn: true) == nil)
        #expect(rules.name(of: Controller(), isOwn: true) == nil)
    }

    @Test func classesOfTheSystemAreNamedThemselves() {
        let (plain, details) = (Controller(), OrderDetails())
        rules.configure(plain, isOwn: false, at: .loaded)
        rules.configure(details, isOwn: false, at: .loaded)
        #expect(plain.isPaper && !details.isPaper)
        #expect(([.screen(Controller.self, "any")] as [ScreenRule]).name(of: details, isOwn: false) == nil)
        #expect(rules.name(of: details, isOwn: false) == "order")
    }

    @Test(arguments: [
        ("/apps/Shop.app", true), ("/apps/Shop.app/Frameworks/Orders.framework", true), ("/apps/Shop.app2", false),
        ("/System/Library/PrivateFrameworks/UIKitCore.framework", false), ("/apps", false), ("", false),
    ])
    func onlyClassesOfTheAppAreItsOwn(path: String, isOwn: Bool) {
        #expect(Screens.isOwn(path, of: "/apps/Shop.app") == isOwn)
    }
}
