import Foundation
import RunwayChromium
import RunwayJSON
import Testing

@testable import RunwayViews

/// Views rendered to HTML, in a real browser.
@Suite(.enabled(if: SharedBrowser.isInstalled))
struct RenderedViewTests {
    /// The nodes of which attributes are sampled, without the attribute. Their sizes depend on no font.
    private enum Plain: String, CaseIterable {
        case box, wrap, text, image

        var members: String {
            switch self {
            case .box: #""node":"box","children":[{"node":"box","width":100,"height":20},\#(Self.narrow)]"#
            case .wrap:
                #""node":"box","layout":"wrap","children":[\#(repeatElement(Self.narrow, count: 25).joined(separator: ","))]"#
            case .text: #""node":"text","text":"a\nb\nc","width":100"#
            case .image: #""node":"image","width":40,"height":30"#
            }
        }

        private static let narrow = #"{"node":"box","width":40,"height":20}"#

        /// The width and the height, in whole points.
        var size: [Int] {
            switch self {
            case .box: [100, 40]
            case .wrap: [1000, 20]
            case .text: [100, 69]
            case .image: [40, 30]
            }
        }
    }

    /// A value of an attribute, and what it makes of a node.
    private struct Sample {
        let attribute: Attribute
        let plain: Plain
        let json: String
        /// The computed style in light and, if it differs, in dark colours; `nil` for the width of the screen.
        let light: String?
        var dark: String?
        /// The width and the height, if not those of the plain node; `nil` for the width of the screen.
        var size: [Int?]
        /// Where the second child, or the first letter of a text, begins: counted from the first child in the direction
        /// of the text, or in percent of the free width.
        var offset: Int

        init(
            _ attribute: Attribute, of plain: Plain = .box, _ json: String, _ light: String?, dark: String? = nil,
            size: [Int?]? = nil, offset: Int? = nil
        ) {
            (self.attribute, self.plain, self.json, self.light, self.dark) = (attribute, plain, json, light, dark)
            (self.size, self.offset) = (size ?? plain.size, offset ?? 0)
        }
    }

    private static let samples: [Sample] = [
        Sample(.width, "120", "120px", size: [120, 40]), Sample(.width, #""fill""#, nil, size: [nil, 40]),
        Sample(.width, of: .wrap, #""content""#, "1000px", offset: 40),
        Sample(.height, "30", "30px", size: [100, 30]), Sample(.maxWidth, "60", "60px", size: [60, 40]),
        Sample(.grow, "2", "2"), Sample(.paddingInline, "8", "8px", size: [116, 40]),
        Sample(.paddingBlock, "4.5", "4.5px", size: [100, 49]), Sample(.gap, "6", "6px", size: [100, 46]),
        Sample(.align, #""center""#, "center", offset: 30), Sample(.align, #""end""#, "end", offset: 60),
        Sample(
            .background, ##"{"light":"#0a60ff","dark":"#00000080"}"##, "rgb(10, 96, 255)", dark: "rgba(0, 0, 0, 0.5)"),
        Sample(.color, of: .text, ##"{"light":"#f00","dark":"#0f0"}"##, "rgb(255, 0, 0)", dark: "rgb(0, 255, 0)"),
        Sample(.border, ##""#00f""##, "1px solid rgb(0, 0, 255)", size: [102, 42]), Sample(.radius, "12", "12px"),
        Sample(.shadow, "4", "rgba(0, 0, 0, 0.33) 0px 0px 4px 0px"), Sample(.opacity, "0.5", "0.5"),
        Sample(.clip, "true", "clip"), Sample(.font, of: .text, #""title""#, "28px", size: [100, 113]),
        Sample(.weight, of: .text, #""semibold""#, "600"),
        Sample(.textAlign, of: .text, #""center""#, "center", offset: 50),
        Sample(.textAlign, of: .text, #""end""#, "end", offset: 100),
        Sample(.lines, of: .text, "2", "2", size: [100, 46]),
        Sample(.decoration, of: .text, #""strike""#, "line-through"), Sample(.fit, of: .image, #""cover""#, "cover"),
        Sample(.ratio, "1.5", "1.5 / 1", size: [100, 67]),
        Sample(.rotate, "45", "45deg", size: [99, 99], offset: 14), Sample(.scale, "1.5", "1.5", size: [150, 60]),
        Sample(.animate, #"{"property":"slide","from":0,"to":-50,"seconds":8}"#, "8s linear infinite both slide_0_-50"),
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

    /// The computed style and the box of each sample, and the style of the same node without the attribute.
    private struct Found: Decodable {
        let styles, initial: [String]
        let sizes: [[Int]]
        let offsets: [Int]
    }

    /// In both directions, at three widths, in light and in dark.
    @Test func everyAttributeHasItsStyleAndBox() async throws {
        #expect(Set(Self.samples.map(\.attribute)) == Set(Attribute.allCases))
        let plain = Plain.allCases.map { "{\($0.members)}" }
        let nodes = Self.samples.map { #"{"\#($0.attribute.rawValue)":\#($0.json),\#($0.plain.members)}"# }
        let text = #"{"node":"box","children":[\#((plain + nodes).joined(separator: ","))]}"#
        let pages = try ["/ltr": Self.page(text), "/rtl": Self.page(text, isRightToLeft: true)]
        let properties = Self.samples.map { #""\#($0.attribute.row.property)""# }.joined(separator: ",")
        let places = Self.samples.map { Plain.allCases.firstIndex(of: $0.plain) ?? 0 }
        let look = """
            (() => {
              const all = [...document.querySelector('main').firstChild.children]
              const nodes = all.slice(\(plain.count)), names = [\(properties)], places = \(places)
              const side = (node, isEnd) => node.getBoundingClientRect()[(document.dir === 'rtl') !== isEnd ? 'right' : 'left']
              const gap = (one, other, isEnd) => Math.abs(side(one, isEnd) - side(other, isEnd))
              const offset = node => {
                if (node.children.length) return gap(node.children[0], node.children[1], false)
                if (!node.firstChild) return 0
                const letter = document.createRange()
                letter.setStart(node.firstChild, 0)
                letter.setEnd(node.firstChild, 1)
                const before = gap(node, letter, false)
                return 100 * before / (before + gap(node, letter, true))
              }
              return {
                styles: names.map((name, i) => getComputedStyle(nodes[i]).getPropertyValue(name)),
                initial: names.map((name, i) => getComputedStyle(all[places[i]]).getPropertyValue(name)),
                sizes: nodes.map(node => node.getBoundingClientRect()).map(box => [box.width, box.height].map(Math.round)),
                offsets: nodes.map(node => Math.round(offset(node))),
              }
            })()
            """
        try await Visit(pages).run { (visit) async throws in
            for (width, direction, isDark) in Self.screens {
                try await visit.page.setScreen(width: width, height: 700, isDark: isDark)
                try await show("/\(direction)", in: visit)
                let found: Found = try await value(look, in: visit)
                let text = isDark ? "rgb(255, 255, 255)" : "rgb(0, 0, 0)"
                for (index, sample) in Self.samples.enumerated() {
                    let place = "\(sample.attribute) \(sample.json) at \(width), \(direction)"
                    let expected = (isDark ? sample.dark : nil) ?? sample.light ?? "\(width)px"
                    #expect(found.styles[index] == expected, "\(place)")
                    // The used size stands in for "auto".
                    if ![.width, .height].contains(sample.attribute) {
                        let initial = sample.attribute.row.initial.replacing("CanvasText", with: text)
                        #expect(found.initial[index] == initial, "\(place), by default")
                    }
                    #expect(found.sizes[index] == sample.size.map { $0 ?? width }, "\(place)")
                    #expect(found.offsets[index] == sample.offset, "\(place)")
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
