import Testing

/// What SwiftUI calls while a user moves through an app, as developer.apple.com documents it.
struct SwiftUIScriptTests {
    // developer.apple.com/documentation/swiftui/view/onappear(perform:): before the first frame;
    // developer.apple.com/documentation/swiftui/view/ondisappear(perform:): after the view has disappeared.
    @Test func pushAndPop() throws {
        let report = try Script.report(
            """
            list onAppear
            5 s
            order onAppear
            list onDisappear
            7 s
            list onAppear
            order onDisappear deinit
            """)
        #expect(
            report == [
                "list appeared: opened", "order appeared: opened", "list disappeared: hidden after 5",
                "list appeared: returned", "order disappeared: hidden after 7",
            ])
    }

    // A sheet removes nothing of what is below; half down and back calls nobody.
    @Test func sheetLeavesWhatIsBelow() throws {
        let report = try Script.report(
            """
            list onAppear
            filter onAppear
            4 s
            filter onDisappear deinit
            """)
        #expect(
            report == ["list appeared: opened", "filter appeared: opened", "filter disappeared: hidden after 4"])
    }

    // developer.apple.com/documentation/swiftui/scenephase: read in a view, it is the phase of the view's scene, and inactive while it
    // is visible without being active.
    @Test func inactiveScenesStayVisible() throws {
        let report = try Script.report(
            """
            list onAppear
            scene A foreground
            2 s
            scene A foreground
            2 s
            scene A background
            scene A foreground
            """)
        #expect(
            report == ["list appeared: opened", "list disappeared: background after 4", "list appeared: foreground"])
    }

    // A view that is removed without `onDisappear`, since its window was closed.
    @Test func closedWindowEndsItsViews() throws {
        let report = try Script.report(
            """
            list onAppear
            1 s
            scene A disconnected
            list deinit
            """)
        #expect(report == ["list appeared: opened", "list disappeared: disconnected after 1"])
    }
}
