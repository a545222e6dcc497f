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
        (.width, "120", "120px", nil), (.height, "30", "30px", nil), (.maxWidth, "200", "200px", nil),
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

    @Test func everyAttributeHasItsComputedStyle() async throws {
        #expect(Self.samples.map(\.attribute) == Attribute.allCases)
        let nodes = Self.samples.map { #"{"node":"box","\#($0.attribute.rawValue)":\#($0.json)}"# }
        let text = #"{"node":"box","children":[{"node":"box"},\#(nodes.joined(separator: ","))]}"#
        let pages = try ["/ltr": Self.page(text), "/rtl": Self.page(text, isRightToLeft: true)]
        let properties = Self.samples.map { #""\#($0.attribute.row.property)""# }.joined(separator: ",")
        let styles = """
            (() => {
              const [plain, ...nodes] = document.querySelector('main').firstChild.children
              return [\(properties)].map((name, i) =>
                [nodes[i], plain].map(node => getComputedStyle(node).getPropertyValue(name)))
            })()
            """
        try await Visit(pages).run { (visit) async throws in
            for (width, direction, isDark) in [
                (320, "ltr", false), (390, "rtl", true), (834, "ltr", true), (834, "rtl", false),
            ] {
                try await visit.page.setScreen(width: width, height: 700, isDark: isDark)
                try await show("/\(direction)", in: visit)
                let found: [[String]] = try await value(styles, in: visit)
                for (sample, styles) in zip(Self.samples, found) {
                    let expected = isDark ? sample.dark ?? sample.light : sample.light
                    #expect(styles[0].hasPrefix(expected), "\(sample.attribute) is \(styles[0])")
                    let initial = sample.attribute.row.initial
                    // The used size stands in for "auto".
                    let isSize = [.width, .height].contains(sample.attribute)
                    #expect(isSize || styles[1].hasPrefix(initial), "\(sample.attribute) is \(styles[1]) by default")
                }
            }
        }
    }

    @Test func boxesFollowTheDirectionOfText() async throws {
        let text = """
            {"node":"box","layout":"row","width":"fill","paddingInline":10,"gap":5,"children":[
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
