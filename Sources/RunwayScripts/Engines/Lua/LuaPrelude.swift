#if Lua
    /// Runs in each context before any script.
    ///
    /// It removes all globals that are not listed, and replaces the functions in C that could run for long without an
    /// instruction of the interpreter: those on tables, by functions in Lua; those on patterns, by ones that refuse
    /// long patterns, and long texts for patterns with several repetitions; those that convert or compare many
    /// arguments, by ones that refuse long arguments. It returns to the host the functions that it calls.
    let luaPrelude = #"""
        local byte, char, find, format, gsub, rep, sub = string.byte, string.char, string.find, string.format, string.gsub,
            string.rep, string.sub
        local match, gmatch, concat, pcall, error, type, rawget, rawlen = string.match, string.gmatch, table.concat, pcall,
            error, type, rawget, rawlen
        local next, getmetatable, setmetatable, tostring, tonumber = next, getmetatable, setmetatable, tostring, tonumber
        local select, mathtype = select, math.type
        local randomseed, utf8char = math.randomseed, utf8.char

        -- At most about ten million steps of the matcher, which no deadline stops. Walks the pattern as the matcher does.
        local function bound(text, pattern, isAnchored)
            local length, width, place, repeats = #text, #pattern + 1, isAnchored and 2 or 1, isAnchored and 0 or 1
            if width > 1024 then error("the pattern is too long", 3) end
            while place < width do
                local c = byte(pattern, place)
                local class = c == 37 and byte(pattern, place + 1)
                if class == 98 then
                    place, repeats = place + 4, repeats + 1
                elseif class and class >= 48 and class <= 57 then
                    place, repeats = place + 2, repeats + 1
                elseif class == 102 then
                    place = place + 2
                elseif c == 40 or c == 41 then
                    place = place + 1
                else
                    place = place + (class and 2 or 1)
                    if c == 91 then
                        if byte(pattern, place) == 94 then place = place + 1 end
                        repeat
                            place = place + (byte(pattern, place) == 37 and 2 or 1)
                        until place >= width or byte(pattern, place) == 93
                        place = place + 1
                    end
                    c = byte(pattern, place)
                    if c == 42 or c == 43 or c == 45 or c == 63 then place, repeats = place + 1, repeats + 1 end
                end
            end
            local steps = width
            for i = 1, repeats do steps = steps * (length + i) / i end
            if steps > 1e7 then error("the pattern is too costly for a text of " .. length .. " bytes", 3) end
        end
        -- For functions that convert, compare or measure each argument.
        local function light(body)
            return function(...)
                local list, total = { ... }, 0
                for i = 1, select("#", ...) do
                    if type(list[i]) == "string" then total = total + #list[i] end
                end
                if total > 1048576 then error("the arguments are too long", 2) end
                return body(...)
            end
        end
        -- A list without metamethods, which functions in C would call.
        local function plain(list, from, to)
            if type(list) ~= "table" then error("a table is needed, not a " .. type(list), 3) end
            if getmetatable(list) == nil then return list end
            if to - from > 65536 then error("the list is too long", 3) end
            local copy = {}
            for i = from, to do copy[i] = list[i] end
            return copy
        end
        local function text(value)
            local kind = type(value)
            if kind ~= "string" and kind ~= "number" then error("a string is needed, not a " .. kind, 3) end
            return tostring(value)
        end
        local strings = { byte = byte, char = light(char), format = light(format), len = string.len, lower = string.lower,
            reverse = string.reverse, sub = sub, upper = string.upper }
        function strings.find(s, p, ...) s, p = text(s), text(p) bound(s, p, byte(p) == 94) return find(s, p, ...) end
        function strings.match(s, p, ...) s, p = text(s), text(p) bound(s, p, byte(p) == 94) return match(s, p, ...) end
        function strings.gmatch(s, p, ...) s, p = text(s), text(p) bound(s, p) return gmatch(s, p, ...) end
        function strings.gsub(s, p, ...) s, p = text(s), text(p) bound(s, p, byte(p) == 94) return gsub(s, p, ...) end
        function strings.rep(s, n, separator)
            if n > 1048576 or (#s + #(separator or "")) * n > 1048576 then error("the string is too long", 2) end
            return rep(s, n, separator)
        end
        local meta = getmetatable("")
        meta.__index, meta.__metatable = strings, false

        local tables, unpack = { pack = table.pack }, table.unpack
        function tables.concat(list, separator, from, to)
            from, to = from or 1, to or #list
            return concat(plain(list, from, to), separator, from, to)
        end
        function tables.unpack(list, from, to)
            from, to = from or 1, to or #list
            return unpack(plain(list, from, to), from, to)
        end
        function tables.insert(list, ...)
            local place, value = ...
            local count = rawlen(list)
            if select("#", ...) == 1 then list[count + 1] = place return end
            if place < 1 or place > count + 1 then error("position out of bounds", 2) end
            for i = count, place, -1 do list[i + 1] = list[i] end
            list[place] = value
        end
        function tables.remove(list, place)
            local count = rawlen(list)
            place = place or count
            local value = list[place]
            if place < 1 then return value end
            for i = place, count do list[i] = list[i + 1] end
            return value
        end
        function tables.sort(list, before)
            before = before or function(a, b) return a < b end
            local from, to, count, width = list, {}, rawlen(list), 1
            while width < count do
                for low = 1, count, 2 * width do
                    local i, j, middle, high = low, low + width, low + width, low + 2 * width
                    for k = low, high <= count and high - 1 or count do
                        if i < middle and (j >= high or j > count or not before(from[j], from[i])) then
                            to[k] = from[i] i = i + 1
                        else
                            to[k] = from[j] j = j + 1
                        end
                    end
                end
                if from == list then from, to = to, {} else from, to = to, from end
                width = 2 * width
            end
            if from ~= list then for i = 1, count do list[i] = from[i] end end
        end

        local null = setmetatable({}, { __tostring = function() return "null" end, __metatable = false,
            __newindex = function() error("null has no members", 2) end })
        local arrays = setmetatable({}, { __mode = "k" })
        local escapes = { ['"'] = '\\"', ["\\"] = "\\\\" }
        local function escape(c) return escapes[c] or format("\\u%04x", byte(c)) end
        local function encode(value)
            local kind = type(value)
            if value == null or kind == "nil" then return "null" end
            if kind == "string" then return '"' .. gsub(value, '[%c"\\]', escape) .. '"' end
            if kind == "boolean" then return tostring(value) end
            if kind == "number" then
                if mathtype(value) == "integer" then return format("%d", value) end
                if value ~= value or value - value ~= 0 then error("a number is not finite") end
                local short = format("%.15g", value)
                return tonumber(short) == value and short or format("%.17g", value)
            end
            if kind ~= "table" then error("a " .. kind .. " is no value of JSON") end
            local parts, count = {}, rawlen(value)
            if arrays[value] or count > 0 then
                for i = 1, count do parts[i] = encode(value[i]) end
                return "[" .. concat(parts, ",") .. "]"
            end
            for key, member in next, value do
                if type(key) ~= "string" then error("the name of a member is a " .. type(key)) end
                parts[#parts + 1] = encode(key) .. ":" .. encode(member)
            end
            return "{" .. concat(parts, ",") .. "}"
        end

        local decode
        local named = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }
        local function decodeString(text, place)
            local stop = place + 1
            while true do
                stop = find(text, '["\\]', stop)
                if byte(text, stop) == 34 then break end
                stop = stop + 2
            end
            local raw = sub(text, place + 1, stop - 1)
            if find(raw, "\\", 1, true) then
                raw = gsub(raw, "\\u([dD][89abAB]%x%x)\\u([dD][c-fC-F]%x%x)", function(high, low)
                    return utf8char((tonumber(high, 16) - 0xD800) * 1024 + tonumber(low, 16) - 0xDC00 + 0x10000)
                end)
                raw = gsub(raw, "\\(.)(%x?%x?%x?%x?)", function(c, digits)
                    if c == "u" then return utf8char(tonumber(digits, 16)) end
                    return (named[c] or c) .. digits
                end)
            end
            return raw, stop + 1
        end
        -- Of JSON that the host has written.
        decode = function(text, place)
            place = find(text, "[^ \n\r\t]", place)
            local first = byte(text, place)
            if first == 34 then return decodeString(text, place) end
            if first == 123 or first == 91 then
                local result, count, isArray = {}, 0, first == 91
                if isArray then arrays[result] = true end
                place = find(text, "[^ \n\r\t]", place + 1)
                if byte(text, place) == first + 2 then return result, place + 1 end
                while true do
                    local key
                    if isArray then count = count + 1 key = count else
                        key, place = decodeString(text, find(text, '"', place, true))
                        place = find(text, ":", place, true) + 1
                    end
                    result[key], place = decode(text, place)
                    place = find(text, "[^ \n\r\t]", place)
                    if byte(text, place) ~= 44 then return result, place + 1 end
                    place = place + 1
                end
            end
            if first == 116 then return true, place + 4 end
            if first == 102 then return false, place + 5 end
            if first == 110 then return null, place + 4 end
            local last = (find(text, "[^%d%.eE+-]", place) or #text + 1) - 1
            return tonumber(sub(text, place, last)), last + 1
        end

        local declarations, functions, names, isLoading = {}, {}, {}, true
        local function declare(kind, name, version, body)
            local key = kind .. " " .. tostring(name)
            if not isLoading then error(key .. " is declared after the script has run", 3) end
            if type(name) ~= "string" or mathtype(version) ~= "integer" or type(body) ~= "function" then
                error(kind .. " needs a name" .. (kind == "patch" and ", a version" or "") .. " and a function", 3)
            end
            if names[key] then error(key .. " is declared twice", 3) end
            names[key] = true
            declarations[#declarations + 1] = encode({ kind, name, version })
            functions[#functions + 1] = body
        end
        local lines = {}
        local function log(level)
            return function(...)
                if #lines >= 64 then return end
                local line = level
                for i = 1, select("#", ...) do line = line .. " " .. tostring((select(i, ...))) end
                lines[#lines + 1] = sub(line, 1, 1024)
            end
        end

        local now = 0
        local allowed = { _G = true, assert = true, error = true, getmetatable = true, ipairs = true, math = true, next = true,
            pairs = true, pcall = true, rawequal = true, rawget = true, rawlen = true, rawset = true, select = true,
            tonumber = true, tostring = true, type = true, utf8 = true }
        for name in next, _G do if not allowed[name] then _G[name] = nil end end
        math.randomseed, math.max, math.min, utf8.char = nil, light(math.max), light(math.min), light(utf8char)
        string, table = strings, tables
        _G.null = null
        console = { debug = log("debug"), log = log("log"), info = log("info"), warn = log("warn"), error = log("error") }
        print = console.log
        function array(list) arrays[list] = true return list end
        function clock() return now end
        function patch(name, version, body) declare("patch", name, version, body) end
        function on(name, body) declare("on", name, 0, body) end
        function view(name, body) declare("view", name, 0, body) end
        _G.setmetatable = function(value, meta)
            if type(meta) == "table" and rawget(meta, "__gc") ~= nil then error("__gc is not allowed", 2) end
            return setmetatable(value, meta)
        end
        -- The handler of Lua's own runs inside the hook of the interpreter, where nothing would stop it.
        function xpcall(body, handler, ...)
            local results = table.pack(pcall(body, ...))
            if results[1] then return table.unpack(results, 1, results.n) end
            return false, handler(results[2])
        end

        return function(number, input, time, seed)
            now = time
            randomseed(seed)
            local arguments = decode(input, 1)
            return encode(functions[number + 1](table.unpack(arguments, 1, #arguments)))
        end, function()
            isLoading = false
            return "[" .. concat(declarations, ",") .. "]"
        end, function()
            if #lines == 0 then return nil end
            arrays[lines] = true
            local taken = encode(lines)
            lines = {}
            return taken
        end
        """#
#endif
