import Foundation
import RunwayChromium
import RunwayJSON
import Testing

@testable import RunwayViews

/// Views rendered to HTML, in a real browser.
@Suite(.enabled(if: SharedBrowser.isInstalled))
struct RenderedViewTests {
    /// One value of each attribute, and the computed style of its property: in light and, if it differs, in dark colours.
    private static let samples: [(attribute: Attribute, json: String, light: String, dark: String?)] = [
        (.width, "120", "120px", nil), (.height, "30", "30px", nil), (.maxWidth, "60", "60px", nil),
        (.grow, "2", "2", nil), (.paddingInline, "8", "8px", nil), (.paddingBlock, "4.5", "4.5px", nil),
        (.gap, "6", "6px", nil), (.align, #""center""#, "center", nil),
        (
            .background, ##"{"light":"#0a60ff","dark":"#00000080"}"##, "rgb(10, 96, 255)",
            "rgba(0, 0, 0, 0.5"
        ), (.color, ##"{"light":"#f00","dark":"#0f0"}"##, "rgb(255, 0, 0)", "rgb(0, 255, 0)"),
        (.border, ##""#00f""##, "1px solid rgb(0, 0, 255)", nil), (.radius, "12", "12px", nil),
        (.shadow, "4", "rgba(0, 0, 0, 0.33) 0px 0px 4px", nil), (.opacity, "0.5", "0.5", nil),
        (.clip, "true", "clip", nil), (.font, #""title""#, "28px", nil), (.weight, #""semibold""#, "600", nil),
        (.textAlign, #""end""#, "end", nil), (.lines, "2", "2", nil),
        (.decoration, #""strike""#, "line-through", nil), (.fit, #""cover""#, "cover", nil),
        (.ratio, "1.5", "1.5", nil), (.rotate, "45", "45deg", nil), (.scale, "1.5", "1.5", nil),
        (.animate, #"{"property":"slide","from":0,"to":-50,"seconds":8}"#, "8s linear", nil),
    ]

    /// The width and the height of a box with each attribute of ``samples`` that changes them, in whole points. The box
    /// contains two of 100 and 40 times 20 points, so that it has 100 times 40 without attributes.
    private static let sizes: [Attribute: [Int]] = [
        .width: [120, 40], .height: [100, 30], .maxWidth: [60, 40], .paddingInline: [116, 40],
        .paddingBlock: [100, 49], .gap: [100, 46], .border: [102, 42], .ratio: [100, 67], .rotate: [99, 99],
        .scale: [150, 60],
    ]
    /// Where the second box begins, counted from the first in the direction of the text, if not there.
    private static let offsets: [Attribute: Int] = [.align: 30, .rotate: 14]

    private static func page(_ text: String, _ json: String = "{}", isRightToLeft: Bool = false) throws -> String {
        let document = try ViewDocument(Array(text.utf8))
        let tree = document.tree(of: try JSONDocument(json).root)
        return tree.html(ViewPage(isRightToLeft: isRightToLeft))
    }

    /// Loads a page, and waits until it is complete.
    private func show(_ path: String, in visit: Visit) async throws {
        try await visit.page.load(visit.home + path)
        _ = try await visit.page.evaluate(
            "document.readyState === 'complete' || new Promise(done => addEventListener('load', () => done(true)))")
    }

    private func value<Value: Decodable>(_ expression: String, in visit: Visit) async throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(try await visit.page.evaluate(expression).utf8))
    }

    /// The computed style of each property, and the box, of the node with the attribute and of one without.
    private struct Found: Decodable {
        let styles, initial: [String]
        let sizes: [[Int]]
        let offsets: [Int]
    }

    /// In both directions, at three widths, in light and in dark.
    @Test func everyAttributeHasItsStyleAndBox() async throws {
        #expect(Self.samples.map(\.attribute) == Attribute.allCases)
        let content = #""children":[{"node":"box","width":100,"height":20},{"node":"box","width":40,"height":20}]"#
        let nodes = Self.samples.map { #"{"node":"box",\#(content),"\#($0.attribute.rawValue)":\#($0.json)}"# }
        let text = #"{"node":"box","children":[{"node":"box",\#(content)},\#(nodes.joined(separator: ","))]}"#
        let pages = try ["/ltr": Self.page(text), "/rtl": Self.page(text, isRightToLeft: true)]
        let properties = Self.samples.map { #""\#($0.attribute.row.property)""# }.joined(separator: ",")
        let look = """
            (() => {
              const [plain, ...nodes] = document.querySelector('main').firstChild.children
              const names = [\(properties)]
              const start = node => node.getBoundingClientRect()[document.dir === 'rtl' ? 'right' : 'left']
              return {
                styles: names.map((name, i) => getComputedStyle(nodes[i]).getPropertyValue(name)),
                initial: names.map(name => getComputedStyle(plain).getPropertyValue(name)),
                sizes: nodes.map(node => node.getBoundingClientRect()).map(box => [box.width, box.height].map(Math.round)),
                offsets: nodes.map(node => Math.abs(Math.round(start(node.children[1]) - start(node.children[0])))),
              }
            })()
            """
        try await Visit(pages).run { (visit) async throws in
            for (width, direction, isDark) in Self.screens {
                try await visit.page.setScreen(width: width, height: 700, isDark: isDark)
                try await show("/\(direction)", in: visit)
                let found: Found = try await value(look, in: visit)
                for (index, sample) in Self.samples.enumerated() {
                    let (attribute, place) = (sample.attribute, "\(sample.attribute) at \(width), \(direction)")
                    let expected = isDark ? sample.dark ?? sample.light : sample.light
                    #expect(found.styles[index].hasPrefix(expected), "\(place) is \(found.styles[index])")
                    // The used size stands in for "auto".
                    let isSize = [.width, .height].contains(attribute)
                    let initial = found.initial[index]
                    #expect(isSize || initial.hasPrefix(attribute.row.initial), "\(place) is \(initial) by default")
                    let size = Self.sizes[attribute] ?? [100, 40]
                    #expect(found.sizes[index] == size, "\(place) has a box of \(found.sizes[index])")
                    let offset = Self.offsets[attribute] ?? 0
                    #expect(found.offsets[index] == offset, "\(place) begins at \(found.offsets[index])")
                }
            }
        }
    }

    private static let screens = [320, 390, 834].flatMap { width in
        ["ltr", "rtl"].flatMap { direction in [false, true].map { (width, direction, isDark: $0) } }
    }

    @Test func boxesFollowTheDirectionOfText() async throws {
        let text = """
            {"node":"box","layout":"row","paddingInline":10,"gap":5,"children":[
              {"node":"box","width":100,"height":10},{"node":"box","width":40,"height":10},{"node":"spacer"},
              {"node":"box","width":50,"height":10}]}
            """
        let pages = try ["/ltr": Self.page(text), "/rtl": Self.page(text, isRightToLeft: true)]
        let edges = """
            [...document.querySelector('main').firstChild.children].map(node => {
              const box = node.getBoundingClientRect()
              return [box.left, innerWidth - box.right]
            })
            """
        try await Visit(pages).run { (visit) async throws in
            for width in [320, 390, 834] {
                try await visit.page.setScreen(width: width, height: 700, isDark: false)
                for (path, first, last) in [("/ltr", 0, 1), ("/rtl", 1, 0)] {
                    try await show(path, in: visit)
                    let boxes: [[Double]] = try await value(edges, in: visit)
                    #expect(boxes[0][first] == 10 && boxes[1][first] == 115 && boxes[3][last] == 10, "\(boxes)")
                }
            }
        }
    }

    @Test func clicksAndKeysSendEvents() async throws {
        let text = """
            {"node":"box","children":[
              {"node":"box","width":100,"height":50,"on":{"tap":{"name":"open","detail":"{a}"}},"label":"Open"},
              {"node":"input","value":"{b}","label":"Name","on":{"change":"name"}},
              {"node":"switch","label":"Wi-Fi","on":{"change":"wifi"}}]}
            """
        let pages = try ["/view": Self.page(text, #"{"a":{"id":"\"<7>"},"b":"\"quoted\""}"#)]
        try await Visit(pages).run { (visit) async throws in
            try await show("/view", in: visit)
            _ = try await visit.page.evaluate(
                "(globalThis.events = [], addEventListener('runway-view', event => events.push(event.detail)), 0)")
            try await visit.page.click(x: 20, y: 20)
            _ = try await visit.page.evaluate(
                """
                (() => {
                  const [box, input, wifi] = document.querySelectorAll('[tabindex],input')
                  box.focus()
                  document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))
                  input.value += '!'
                  input.dispatchEvent(new Event('change', { bubbles: true }))
                  wifi.click()
                })()
                """)
            let events = try await visit.value(of: "events.length === 4 ? events : undefined")
            let open = #"{"name":"open","detail":{"id":"\"<7>"}}"#
            #expect(
                events == "[\(open),\(open),"
                    + #"{"name":"name","detail":null,"value":"\"quoted\"!"},{"name":"wifi","detail":null,"value":true}]"#
            )
        }
    }

    @Test func dataRunNoScript() async throws {
        let texts = [
            #"<img src=x onerror='globalThis.ran=1'>"#, #""><script>globalThis.ran=1</script>"#,
            "</style><script>globalThis.ran=1</script>",
            "javascript:globalThis.ran=1", #"' onfocus='globalThis.ran=1' autofocus='"#, "}*{display:none}",
        ]
        let nodes = [
            #""text","text":"{t}""#, #""image","source":"{t}""#, #""input","value":"{t}","placeholder":"{t}""#,
            #""slot","name":"s","with":{"p":"{t}"}"#,
        ].map { #"{"node":\#($0),"label":"{t}","color":"{t}","on":{"tap":{"name":"n","detail":"{t}"}}}"# }
        let text =
            #"{"node":"box","children":[{"node":"box","each":"{a}","as":"t","children":[\#(nodes.joined(separator: ","))]}]}"#
        let json = String(decoding: try JSONEncoder().encode(["a": texts]), as: UTF8.self)
        try await Visit(["/view": Self.page(text, json)]).run { (visit) async throws in
            try await show("/view", in: visit)
            let state = try await visit.page.evaluate(
                """
                new Promise(done => setTimeout(done, 50)).then(() => [
                  globalThis.ran ?? 0, document.scripts.length, document.querySelectorAll('main *').length,
                  document.querySelectorAll('[onerror],[onfocus],[src]').length, document.querySelector('main .text').textContent
                ])
                """)
            // One box, and for each text a box with four nodes.
            #expect(state == #"[0,1,31,0,"<img src=x onerror='globalThis.ran=1'>"]"#)
        }
    }
}
