#if JavaScript && Lua
    import RunwayJSON
    import RunwayViews
    import Testing

    @testable import RunwayScripts

    /// Trees that scripts return, as documents of views, in both languages.
    struct ScriptedViewTests {
        /// A function that returns a tree for a state, by the file of its language.
        private static func app(_ file: String, javaScript: String, lua: String) async throws -> ScriptedApp {
            let source =
                file.hasSuffix(".js")
                ? "view('coupon', state => { \(javaScript) })" : "view('coupon', function(state) \(lua) end)"
            return try await .running(source, file: file)
        }

        private static func document(_ app: ScriptedApp, _ state: String) throws -> ViewDocument {
            let tree = app.runtime.view("coupon", of: try json(state))
            return try ViewDocument(try #require(tree).root, limits: ViewLimits(maximumByteCount: 300_000))
        }

        @Test(arguments: ["main.js", "main.lua"]) func treesOfScriptsAreDocuments(file: String) async throws {
            let app = try await Self.app(
                file,
                javaScript: """
                    return { node: 'box', children: state.items.map((item, index) =>
                        ({ node: 'text', text: `{items.${index}.title}`, color: item.open ? '#0a0' : '#a00' })) }
                    """,
                lua: """
                    local children = array {}
                    for index, item in ipairs(state.items) do
                        table.insert(children, { node = "text", text = "{items." .. (index - 1) .. ".title}",
                            color = item.open and "#0a0" or "#a00" })
                    end
                    return { node = "box", children = children }
                    """)
            let former = #"{"items":[{"title":"{Tea} <b>","open":true},{"title":"Cake"}]}"#
            let state = former.replacing(#""Cake""#, with: #""Cake","open":true"#)
            let tree = try Self.document(app, former).tree(of: json(former))
            #expect(tree.root.children.map(\.text) == ["{Tea} <b>", "Cake"])
            // Each state has a document of its own; the edits are those that differ.
            let next = try Self.document(app, state).tree(of: json(state), after: tree)
            #expect(next.edits(since: tree).map(\.path) == [["1"]])
            #expect(try Self.document(app, #"{"items":[]}"#).tree(of: json("{}")).root.children.isEmpty)
        }

        @Test(arguments: ["main.js", "main.lua"]) func unknownPartsOfScriptsHaveTheirPath(file: String) async throws {
            let app = try await Self.app(
                file, javaScript: "return { node: 'box', children: [{ node: 'chart', colour: 1 }] }",
                lua: "return { node = 'box', children = array { { node = 'chart', colour = 1 } } }")
            let problems = try Self.document(app, "{}").problems
            #expect(problems.map(\.path) == ["children[0].node"] && problems.map(\.kind) == [.unknownNode])
        }

        /// Trees that are too deep, too many nodes and too long.
        @Test(arguments: ["main.js", "main.lua"]) func treesOfScriptsHaveTheLimits(file: String) async throws {
            let app = try await Self.app(
                file,
                javaScript: """
                    let tree = { node: 'text', text: 'x'.repeat(state.length) }
                    for (let i = 0; i < state.depth; i++) tree = { node: 'box', children: [tree] }
                    return { node: 'box', children: [tree, ...Array(state.count).fill({ node: 'text' })] }
                    """,
                lua: """
                    local tree = { node = "text", text = string.rep("x", state.length) }
                    for i = 1, state.depth do tree = { node = "box", children = array { tree } } end
                    local children = array { tree }
                    for i = 1, state.count do table.insert(children, { node = "text" }) end
                    return { node = "box", children = children }
                    """)
            _ = try Self.document(app, #"{"length":1,"depth":30,"count":9000}"#)
            let deepest = Array(repeating: "children[0]", count: 32).joined(separator: ".")
            for (state, path) in [
                (#"{"length":1,"depth":31,"count":1}"#, deepest),
                (#"{"length":1,"depth":0,"count":10000}"#, "children[9999]"),
                (#"{"length":300000,"depth":0,"count":0}"#, "$"),
            ] {
                let error = #expect(throws: ViewError.self) { try Self.document(app, state) }
                #expect(error?.kind == .limit && error?.path == path, "\(String(describing: error))")
            }
        }
    }
#endif
