import RunwayJSON
import Testing

@testable import RunwayViews

struct HTMLTests {
    private func html(_ text: String, _ json: String = "{}", page: ViewPage = ViewPage()) throws -> String {
        let html = try view(text).tree(of: data(json)).html(page)
        let start = try #require(html.firstRange(of: "<main>")), end = try #require(html.firstRange(of: "</main>"))
        return String(html[start.upperBound..<end.lowerBound])
    }

    @Test func nodesAreElementsWithRoles() throws {
        #expect(try html(#"{"node":"text","text":"a","heading":2}"#) == #"<h2 class="text">a</h2>"#)
        #expect(
            try html(#"{"node":"image","source":"a.png"}"#) == #"<img class="image" alt="" src="a.png" loading="lazy">"#
        )
        #expect(
            try html(#"{"node":"switch","value":true,"label":"Wi-Fi"}"#)
                == #"<input class="switch" type="checkbox" checked="" role="switch" aria-label="Wi-Fi">"#)
        #expect(
            try html(#"{"node":"input","mode":"email","placeholder":"E-mail","value":"{v}"}"#, #"{"v":"a@b"}"#)
                == #"<input class="input" type="email" value="a@b" placeholder="E-mail" aria-label="E-mail">"#)
        #expect(
            try html(#"{"node":"list","children":[{"node":"text","text":"{r}","each":"{a}","as":"r"}]}"#, #"{"a":[1]}"#)
                == #"<div class="list" role="list"><div class="item" role="listitem"><div class="text">1</div></div></div>"#
        )
        #expect(
            try html(#"{"node":"box","layout":"row","label":"Coupon","on":{"tap":"open"}}"#)
                == #"<div class="row" data-tap="open" data-tap-detail="null" tabindex="0" role="button" aria-label="Coupon"></div>"#
        )
    }

    @Test func equalDeclarationsShareAClass() throws {
        let document = try view(
            #"{"node":"box","opacity":0.5,"children":[{"node":"text","opacity":0.5,"lines":1},{"node":"text","lines":1}]}"#
        )
        let html = document.tree(of: try data("{}")).html()
        #expect(html.contains(".a0{opacity:0.5}.a1{-webkit-line-clamp:1}</style>"))
        #expect(
            html.contains(#"<div class="column a0"><div class="text a0 a1"></div><div class="text a1"></div></div>"#))
    }

    @Test func lengthOfAllRowsIsLimited() throws {
        let document = try view(
            #"{"node":"list","children":[{"node":"slot","name":"s","each":"{a}","as":"r","with":{"p":"{r}{r}"}}]}"#)
        let rows = Array(repeating: #""0123456789""#, count: 1000).joined(separator: ",")
        var writer = HTMLWriter(addresses: .https, nodeLimit: 10_000, byteLimit: 1000)
        writer.write(document.tree(of: try data(#"{"a":[\#(rows)]}"#)).root)
        #expect((1000...1300).contains(writer.html.utf8.count) && writer.html.hasSuffix("</div></div></div>"))
    }

    @Test func pagesAreLimited() throws {
        let document = try view(#"{"node":"list","children":[{"node":"text","text":"row","each":"{a}"}]}"#)
        let tree = document.tree(of: try data("{\"a\":[\(Array(repeating: "1", count: 5000).joined(separator: ","))]}"))
        #expect(tree.html(ViewPage(maximumNodeCount: 101)).matches(of: /row</).count == 100)
    }
}
