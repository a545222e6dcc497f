import Testing

@testable import RunwayScreens

@MainActor struct RuleTests {
    @Test func rulesConfigureTheirControllers() {
        let (list, details) = (OrderList(), OrderDetails())
        for controller in [list, details] { rules.configure(controller, at: .loaded) }
        #expect(list.isPaper && details.isPaper && !details.isBarHidden)
        for controller in [list, details] { rules.configure(controller, at: .beforeAppearing) }
        #expect(!list.isBarHidden && details.isBarHidden)
    }

    @Test func laterRuleHasTheLastWord() {
        let details = OrderDetails()
        let rules: [ScreenRule] =
            rules + [.whenLoaded(OrderDetails.self) { $0.isPaper = false }, .screen(OrderDetails.self, "special")]
        rules.configure(details, at: .loaded)
        #expect(!details.isPaper && rules.name(of: details) == "special")
    }

    @Test func namesFollowTheState() {
        let details = OrderDetails()
        #expect(rules.name(of: details) == "order" && rules.name(of: OrderList()) == "orders")
        details.isDraft = true
        // No screen, although an earlier rule may state a name.
        #expect(([.screen(Controller.self, "any")] + rules).name(of: details) == nil)
        #expect(rules.name(of: Controller()) == nil)
    }

    @Test(arguments: [
        ("/apps/Shop.app", true), ("/apps/Shop.app/Frameworks/Orders.framework", true), ("/apps/Shop.app2", false),
        ("/System/Library/PrivateFrameworks/UIKitCore.framework", false), ("/apps", false), ("", false),
    ])
    func onlyClassesOfTheAppAreItsOwn(path: String, isOwn: Bool) {
        #expect(Screens.isOwn(path, of: "/apps/Shop.app") == isOwn)
    }
}
