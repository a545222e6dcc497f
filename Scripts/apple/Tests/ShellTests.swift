import AppleFoundation
import SwiftUI
import Testing
import UIKit

@testable import RunwayMediator

/// The shell of UIKit, over a UIKit that drops what is asked of it during a transition.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5)))
final class ShellTests {
    enum TestPage: Page {
        static let module = "test"
        case screen(Int), view, picking(Reply<Int>)
        var reach: Reach { .links }
    }

    final class Controller: UIViewController {
        let number: Int
        let reply: Reply<Int>?
        init(_ number: Int, _ reply: Reply<Int>? = nil) {
            (self.number, self.reply) = (number, reply)
            super.init(nibName: nil, bundle: nil)
        }
        required init?(coder: NSCoder) { nil }
    }

    struct TestModule: Module {
        func screen(for page: TestPage, in mediator: Mediator) -> Screen {
            switch page {
            case .screen(let number): Screen(Controller(number))
            case .view: Screen(Text("a"))
            case .picking(let reply): Screen(Controller(0, reply), as: .sheet)
            }
        }
    }

    private let mediator = Mediator(fallback: .web("https://m.example.com")) { TestModule() }
    private let window = UIWindow()
    private let shell: NavigationShell

    init() {
        FakeTransition.reset()
        shell = NavigationShell(mediator: mediator, root: Controller(-1)) { _ in Controller(-2) }
        mediator.shell = shell
    }

    private func makeVisible() async {
        shell.controller.fakeAppear(in: window)
        await settle()
    }

    /// Ends transitions until there are no more, each followed by the turns of the main actor that it causes.
    private func settle() async {
        await turns()
        while let transition = FakeTransition.running.first {
            transition.finish()
            await turns()
        }
    }

    /// Lets the tasks of the main actor run that are waiting, and those that they create.
    private func turns() async {
        for _ in 0..<5 { await Task {}.value }
    }

    /// The numbers of the controllers of each stack, from the lowest.
    private var stacks: [[Int]] {
        var stacks: [[Int]] = []
        var next: UIViewController? = shell.controller
        while let controller = next {
            stacks.append(
                ((controller as? UINavigationController)?.viewControllers ?? [controller]).map {
                    ($0 as? Controller)?.number ?? 99
                })
            next = controller.presentedViewController
        }
        return stacks
    }

    private var top: UINavigationController {
        var top: UIViewController = shell.controller
        while let next = top.presentedViewController { top = next }
        return top as? UINavigationController ?? shell.controller
    }

    private func pick() -> Task<Int, any Error> {
        Task { try await mediator.result(of: TestPage.picking) }
    }

    private func isClosed(_ task: Task<Int, any Error>) async -> Bool {
        do {
            _ = try await task.value
            return false
        } catch { return (error as? MediatorError)?.kind == .closed }
    }

    @Test func coldLinksOpenWhenTheWindowIsVisible() async {
        mediator.shell = nil
        mediator.open("app://test/screen?_0=1")
        mediator.shell = shell
        #expect(stacks == [[-1, 1]])
        mediator.open(TestPage.screen(2), as: .sheet)
        #expect(stacks == [[-1, 1]])
        await makeVisible()
        #expect(stacks == [[-1, 1], [2]] && FakeTransition.dropped.isEmpty)
    }

    @Test func changesWaitForTransitions() async {
        await makeVisible()
        mediator.open(TestPage.screen(1))
        mediator.open(TestPage.screen(2), as: .sheet)
        mediator.open(TestPage.view)
        mediator.open(TestPage.screen(3), as: .cover)
        mediator.open("app://other/page")
        await settle()
        #expect(stacks == [[-1, 1], [2, 99], [3, -2]] && FakeTransition.dropped.isEmpty)
        #expect(top.modalPresentationStyle == .fullScreen)
    }

    @Test func resultsCloseTheirSheet() async throws {
        await makeVisible()
        let task = pick()
        await settle()
        #expect(stacks == [[-1], [0]])
        mediator.open(TestPage.screen(1))
        await settle()
        (top.viewControllers.first as? Controller)?.reply?.finish(7)
        #expect(try await task.value == 7)
        // The next page is asked for while the sheet goes.
        mediator.open(TestPage.screen(2), as: .sheet)
        await settle()
        #expect(stacks == [[-1], [2]] && FakeTransition.dropped.isEmpty)
    }

    @Test func swipingASheetAwayEndsTheWait() async {
        await makeVisible()
        let task = pick()
        await settle()
        // Half down and back first.
        top.fakeSwipeDown()
        FakeTransition.running.first?.finish(cancelling: true)
        await settle()
        #expect(stacks == [[-1], [0]])
        top.fakeSwipeDown()
        await settle()
        #expect(await isClosed(task) && stacks == [[-1]])
        mediator.open(TestPage.screen(1), as: .sheet)
        await settle()
        #expect(stacks == [[-1], [1]] && FakeTransition.dropped.isEmpty)
    }

    @Test func pagesThatOpenDuringASwipeStay() async {
        await makeVisible()
        mediator.open(TestPage.screen(1), as: .sheet)
        await settle()
        top.fakeSwipeDown()
        mediator.open(TestPage.screen(2))
        mediator.open(TestPage.screen(3), as: .sheet)
        await settle()
        #expect(stacks == [[-1, 2], [3]] && FakeTransition.dropped.isEmpty)
    }

    @Test func swipingBackEndsTheWait() async {
        await makeVisible()
        mediator.open(TestPage.screen(1))
        await settle()
        let task = Task { try await mediator.result(of: TestPage.picking, as: .push) }
        await settle()
        top.fakeSwipeBack()
        FakeTransition.running.first?.finish(cancelling: true)
        await settle()
        #expect(stacks == [[-1, 1, 0]])
        top.fakeSwipeBack()
        mediator.open(TestPage.screen(2))
        await settle()
        #expect(await isClosed(task) && stacks == [[-1, 1, 2]] && FakeTransition.dropped.isEmpty)
    }

    @Test func dismissalsByTheAppEndTheWait() async {
        await makeVisible()
        let task = pick()
        await settle()
        mediator.open(TestPage.screen(1), as: .cover)
        await settle()
        shell.controller.dismiss(animated: true)
        await settle()
        #expect(await isClosed(task) && stacks == [[-1]])
    }

    @Test func controllersOfTheAppStay() async throws {
        await makeVisible()
        shell.controller.setViewControllers(shell.controller.viewControllers + [Controller(8)], animated: true)
        await settle()
        let task = Task { try await mediator.result(of: TestPage.picking, as: .push) }
        await settle()
        shell.controller.setViewControllers(shell.controller.viewControllers + [Controller(9)], animated: true)
        await settle()
        #expect(stacks == [[-1, 8, 0, 9]])
        (shell.controller.viewControllers[2] as? Controller)?.reply?.finish(7)
        #expect(try await task.value == 7)
        await settle()
        #expect(stacks == [[-1, 8]])
        // A controller that the app presents is below the next sheet.
        shell.controller.present(Controller(5), animated: true)
        await settle()
        mediator.open(TestPage.screen(1), as: .sheet)
        await settle()
        #expect(stacks == [[-1, 8], [5], [1]] && FakeTransition.dropped.isEmpty)
    }

    @Test func newRootsReplaceAll() async {
        await makeVisible()
        let task = pick()
        await settle()
        mediator.open(TestPage.screen(1), as: .root)
        mediator.open(TestPage.screen(2))
        await settle()
        #expect(await isClosed(task) && stacks == [[1, 2]] && FakeTransition.dropped.isEmpty)
        mediator.open(TestPage.screen(3), as: .root)
        await settle()
        #expect(stacks == [[3]])
    }

    @Test func releasedShellsEndTheirWaits() async {
        let other = Mediator { TestModule() }
        var task: Task<Int, any Error>?
        do {
            let shell = NavigationShell(mediator: other, root: Controller(-1)) { _ in Controller(-2) }
            shell.controller.fakeAppear(in: window)
            task = Task { [weak shell] in
                try await other.result(of: TestPage.picking, as: .push, in: shell)
            }
            await settle()
            #expect(shell.controller.viewControllers.count == 2)
        }
        if let task { #expect(await isClosed(task)) }
    }
}
