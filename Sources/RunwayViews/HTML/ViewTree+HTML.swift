/// The page that shows a tree as HTML.
public struct ViewPage: Sendable, Hashable {
    /// The title, which screen readers read first. The default is empty.
    public var title: String
    /// The language as BCP 47, such as `ar`. The default is `en`.
    public var language: String
    /// Whether text runs from right to left. The default is `false`.
    public var isRightToLeft: Bool
    /// The addresses of images that are loaded. The default is ``ViewAddresses/https``.
    public var addresses: ViewAddresses
    /// The maximum number of nodes; rows and nodes beyond are left out, and those after 64 MiB of HTML. The default is
    /// 10 000.
    public var maximumNodeCount: Int

    /// Creates a description of a page. Each parameter has the default of its property.
    public init(
        title: String = "",
        language: String = "en",
        isRightToLeft: Bool = false,
        addresses: ViewAddresses = .https,
        maximumNodeCount: Int = 10_000
    ) {
        (self.title, self.language, self.isRightToLeft) = (title, language, isRightToLeft)
        (self.addresses, self.maximumNodeCount) = (addresses, maximumNodeCount)
    }
}

extension ViewTree {
    /// Returns the tree as a page of HTML.
    ///
    /// Data become text and escaped attributes, never markup, style or code, and the page's content security policy
    /// allows only its own script. That one dispatches a `runway-view` event at the window for each event that the
    /// document names, with its `name`, its `detail` and the `value` of a changed input; keys work as clicks do.
    public func html(_ page: ViewPage = ViewPage()) -> String {
        var writer = HTMLWriter(addresses: page.addresses, nodeLimit: page.maximumNodeCount)
        writer.write(root)
        let images = page.addresses.schemes.sorted().map { "\($0):" }.joined(separator: " ")
        let policy =
            "default-src 'none'; img-src 'self' \(images); style-src 'unsafe-inline'; script-src '\(PageParts.scriptHash)'"
        return """
            <!doctype html>
            <html lang="\(HTMLWriter.escaped(page.language))" dir="\(page.isRightToLeft ? "rtl" : "ltr")">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(policy)">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(HTMLWriter.escaped(page.title))</title>
            <style>\(PageParts.style)\(writer.styleSheet)</style>
            </head>
            <body>
            <main>\(writer.html)</main>
            <script>\(PageParts.script)</script>
            </body>
            </html>

            """
    }
}

/// The parts of a page that depend on no document.
enum PageParts {
    static let style = """
        *{box-sizing:border-box}\
        html{color-scheme:light dark;background:Canvas;color:CanvasText;--inline:1}html[dir=rtl]{--inline:-1}\
        body{margin:0;font:1.0625rem/1.35 system-ui,sans-serif;overflow-wrap:break-word}\
        .row,.column,.wrap,.overlay{align-items:start}\
        .row{display:flex;flex-flow:row nowrap}.column{display:flex;flex-flow:column nowrap}\
        .wrap{display:flex;flex-flow:row wrap}.overlay{display:grid}.overlay>*{grid-area:1/1}\
        .text{display:-webkit-box;-webkit-box-orient:vertical;overflow:clip;white-space:pre-wrap;margin:0;\
        font-size:inherit;font-weight:inherit}\
        .fixed{flex-shrink:0}\
        :where(.row:has(>.spacer)){width:100%}\
        .image{display:block;max-width:100%;object-fit:contain}\
        .spacer{flex:1 1 0}\
        .list{display:flex;flex-flow:column;width:100%}.item{content-visibility:auto;contain-intrinsic-size:auto 44px}\
        .pager{display:flex;overflow-x:auto;scroll-snap-type:x mandatory;width:100%}\
        .page{flex:none;width:100%;scroll-snap-align:start}\
        .input{font:inherit;color:inherit;min-width:0}.input::placeholder{color:inherit;opacity:.7}\
        [data-tap]{cursor:pointer}\
        @media (prefers-reduced-motion:reduce){*{animation:none!important}}
        """

    /// The one script of a page.
    static let script = """
        const send=(node,name,value)=>{const key=name+"Detail";dispatchEvent(new CustomEvent("runway-view",\
        {detail:{name:node.dataset[name],detail:JSON.parse(node.dataset[key]),value}}))};\
        addEventListener("click",event=>{const node=event.target.closest("[data-tap],input");\
        if(node?.dataset.tap)send(node,"tap")});\
        addEventListener("keydown",event=>{const node=event.target;\
        if(node.dataset?.tap&&node.tagName!=="INPUT"&&(event.key==="Enter"||event.key===" ")){event.preventDefault();send(node,"tap")}});\
        addEventListener("change",event=>{const node=event.target;\
        if(node.dataset?.change)send(node,"change",node.type==="checkbox"?node.checked:node.value)})
        """

    /// The hash of ``script`` in the policy, as Content Security Policy Level 3 §2.3.1 has it.
    static let scriptHash = "sha256-ud0dt+5vLDDikAqPYIanSVa3KmsnRXddeIacHHpA/C4="
}
