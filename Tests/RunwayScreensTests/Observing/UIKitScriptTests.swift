import Testing

/// What UIKit calls while a user moves through an app, as developer.apple.com documents it.
struct UIKitScriptTests {
    // developer.apple.com/documentation/uikit/uiviewcontroller: viewWillAppear before the view is added, viewDidAppear after it,
    // viewWillDisappear before it is removed, viewDidDisappear after it.
    @Test func pushAndPop() throws {
        let report = try Script.report(
            """
            list viewDidLoad viewWillAppear viewIsAppearing viewDidAppear
            5 s
            list viewWillDisappear
            order viewDidLoad viewWillAppear viewIsAppearing
            list viewDidDisappear
            order viewDidAppear
            7 s
            order viewWillDisappear
            list viewWillAppear viewIsAppearing
            order viewDidDisappear(closing)
            list viewDidAppear
            order deinit
            """)
        #expect(
            report == [
                "list appeared: opened", "list disappeared: hidden after 5", "order appeared: opened",
                "order disappeared: closed after 7", "list appeared: returned",
            ])
    }

    // The app may push the same controller again.
    @Test func closedScreenIsOpenedAgain() throws {
        let report = try Script.report(
            """
            order viewWillAppear viewDidAppear
            3 s
            order viewWillDisappear viewDidDisappear(closing)
            9 s
            order viewWillAppear viewDidAppear
            """)
        #expect(
            report == ["order appeared: opened", "order disappeared: closed after 3", "order appeared: opened"])
    }

    // The order in which two controllers are called is not documented.
    @Test func newScreenMayAppearBeforeTheOldDisappears() throws {
        let report = try Script.report(
            """
            list viewWillAppear viewDidAppear
            order viewWillAppear viewDidAppear
            list viewWillDisappear viewDidDisappear
            """)
        #expect(report == ["list appeared: opened", "order appeared: opened", "list disappeared: hidden after 0"])
    }

    // developer.apple.com/documentation/uikit/uiviewcontroller, "Handle view-related notifications": not every "will" is followed by
    // its "did"; the opposite "will" may follow.
    @Test func cancelledSwipeBackReportsNothing() throws {
        let report = try Script.report(
            """
            order viewWillAppear viewDidAppear
            5 s
            order viewWillDisappear
            list viewWillAppear viewIsAppearing
            1 s
            order viewWillAppear viewIsAppearing viewDidAppear
            list viewWillDisappear viewDidDisappear
            4 s
            order viewWillDisappear viewDidDisappear(closing)
            """)
        #expect(report == ["order appeared: opened", "order disappeared: closed after 10"])
    }

    // developer.apple.com/documentation/uikit/uimodalpresentationstyle/pagesheet: part of what is below stays visible, and its
    // controller is called neither when the sheet comes nor when it goes.
    @Test func sheetSwipedHalfDownAndBackStays() throws {
        let report = try Script.report(
            """
            list viewWillAppear viewDidAppear
            filter viewWillAppear viewIsAppearing viewDidAppear
            3 s
            filter viewWillDisappear
            filter viewWillAppear viewIsAppearing viewDidAppear
            3 s
            filter viewWillDisappear
            filter viewDidDisappear(closing)
            2 s
            list viewWillDisappear viewDidDisappear
            """)
        #expect(
            report == [
                "list appeared: opened", "filter appeared: opened", "filter disappeared: closed after 6",
                "list disappeared: hidden after 8",
            ])
    }

    // developer.apple.com/documentation/uikit/uimodalpresentationstyle/fullscreen: the views of the presenting controller are
    // removed after the presentation completes.
    @Test func coverHidesWhatIsBelow() throws {
        let report = try Script.report(
            """
            list viewWillAppear viewDidAppear
            2 s
            list viewWillDisappear
            player viewWillAppear viewIsAppearing viewDidAppear
            list viewDidDisappear
            9 s
            player viewWillDisappear
            list viewWillAppear viewIsAppearing viewDidAppear
            player viewDidDisappear(closing)
            """)
        #expect(
            report == [
                "list appeared: opened", "player appeared: opened", "list disappeared: hidden after 2",
                "list appeared: returned", "player disappeared: closed after 9",
            ])
    }

    // developer.apple.com/documentation/uikit/uitabbarcontroller: the views of the other tabs leave the window.
    @Test func tabsHideEachOther() throws {
        let report = try Script.report(
            containers: ["home": "tabs", "cart": "tabs"],
            """
            tabs viewWillAppear
            home viewWillAppear viewDidAppear
            tabs viewDidAppear
            4 s
            home viewWillDisappear
            cart viewDidLoad viewWillAppear
            home viewDidDisappear
            cart viewDidAppear
            6 s
            cart viewWillDisappear
            home viewWillAppear
            cart viewDidDisappear
            home viewDidAppear
            """)
        #expect(
            report == [
                "home appeared: opened", "tabs appeared: opened", "home disappeared: hidden after 4",
                "cart appeared: opened", "cart disappeared: hidden after 6", "home appeared: returned",
            ])
    }

    // developer.apple.com/documentation/uikit/uiviewcontroller/shouldautomaticallyforwardappearancemethods: a container that returns
    // false calls its children itself, or forgets to.
    @Test(arguments: [("", ": hidden"), ("(closing)", ": closed")])
    func childrenDisappearWithTheirContainer(how: String, reason: String) throws {
        let report = try Script.report(
            containers: ["map": "pages", "marker": "map"],
            """
            pages viewWillAppear viewDidAppear
            map viewWillAppear viewDidAppear
            marker viewWillAppear viewDidAppear
            3 s
            pages viewWillDisappear viewDidDisappear\(how)
            8 s
            map viewDidDisappear
            """)
        #expect(
            report.suffix(3) == [
                "marker disappeared\(reason) after 3", "map disappeared\(reason) after 3",
                "pages disappeared\(reason) after 3",
            ])
    }

    // developer.apple.com/documentation/uikit/uiscene/didenterbackgroundnotification: the scene is no longer onscreen. No controller
    // is called.
    @Test func backgroundHidesAndForegroundShows() throws {
        let report = try Script.report(
            """
            scene A foreground
            list viewWillAppear viewDidAppear
            filter viewWillAppear viewDidAppear
            5 s
            scene A background
            60 s
            scene A foreground
            1 s
            filter viewWillDisappear viewDidDisappear(closing)
            """)
        #expect(
            report == [
                "list appeared: opened", "filter appeared: opened", "filter disappeared: background after 5",
                "list disappeared: background after 5", "list appeared: foreground", "filter appeared: foreground",
                "filter disappeared: closed after 1",
            ])
    }

    // The app pops and pushes without a user, for instance since a session has ended.
    @Test func changesInBackgroundAppearInForeground() throws {
        let report = try Script.report(
            """
            order viewWillAppear viewDidAppear
            scene A background
            order viewWillDisappear
            signIn viewWillAppear viewDidAppear
            order viewDidDisappear(closing)
            60 s
            scene A foreground
            """)
        #expect(
            report == [
                "order appeared: opened", "order disappeared: background after 0", "signIn appeared: opened",
            ])
    }

    // developer.apple.com, "Managing your app's life cycle": a scene that the system requests typically moves to the background, where
    // controllers are called as usual.
    @Test func launchInBackgroundShowsNothing() throws {
        let launch = "list viewDidLoad viewWillAppear viewDidAppear(background)\n9 s"
        #expect(try Script.report(launch).isEmpty)
        #expect(try Script.report(launch + "\nscene A foreground") == ["list appeared: opened"])
        // The scene was notified before its first controller: what it reported counts.
        #expect(try Script.report("scene A foreground\n" + launch) == ["list appeared: opened"])
    }

    // developer.apple.com/documentation/uikit/uiscene/diddisconnectnotification: the user closed the scene in the app switcher, or
    // the system reclaims its memory.
    @Test func scenesAreSeparate() throws {
        let report = try Script.report(
            """
            list viewWillAppear viewDidAppear
            list@B viewWillAppear viewDidAppear
            3 s
            scene A background
            2 s
            scene B disconnected
            scene A disconnected
            list@B viewWillDisappear viewDidDisappear deinit
            """)
        #expect(
            report == [
                "list appeared: opened", "list@B appeared: opened", "list disappeared: background after 3",
                "list@B disappeared: disconnected after 5",
            ])
    }

    // A window was released with its controllers.
    @Test func releasedControllerIsLost() throws {
        let report = try Script.report(
            """
            list viewWillAppear viewDidAppear
            5 s
            list deinit
            list viewDidDisappear
            """)
        #expect(report == ["list appeared: opened", "list disappeared: lost after 5"])
    }
}
