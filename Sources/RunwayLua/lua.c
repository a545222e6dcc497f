#ifdef RUNWAY_LUA

#define _DEFAULT_SOURCE
#include "RunwayLua.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#if __has_include(<lua5.4/lua.h>)
#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <lua5.4/lualib.h>
#else
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#endif

// The clock of Dispatch.
#ifdef __APPLE__
static const clockid_t uptime = CLOCK_UPTIME_RAW;
#else
static const clockid_t uptime = CLOCK_MONOTONIC;
#endif

// The instructions between two looks at the clock; it is also looked at before each call, since functions in C may be slow.
enum { interval = 100 };

struct runway_lua {
    lua_State *state;
    size_t byte_count, maximum_byte_count;
    uint64_t deadline;
    bool is_stopped;
    // The number of functions of the prelude, at the bottom of the stack.
    int functions;
};

static void *allocate(void *context, void *block, size_t old, size_t new) {
    runway_lua *lua = context;
    // Without a block, `old` is a kind of object.
    if (!block) old = 0;
    if (new == 0) {
        free(block);
        lua->byte_count -= old;
        return NULL;
    }
    if (new > old && new - old > lua->maximum_byte_count - lua->byte_count) return NULL;
    void *result = realloc(block, new);
    if (result) lua->byte_count = lua->byte_count - old + new;
    return result;
}

static runway_lua *owner(lua_State *state) {
    void *context;
    lua_getallocf(state, &context);
    return context;
}

static void look(lua_State *state, lua_Debug *event) {
    (void)event;
    runway_lua *lua = owner(state);
    struct timespec now;
    clock_gettime(uptime, &now);
    if ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec < lua->deadline) return;
    lua->is_stopped = true;
    // From now on at every instruction: a function that catches the error is stopped at its next one.
    lua_sethook(state, look, LUA_MASKCOUNT | LUA_MASKCALL, 1);
    luaL_error(state, "the deadline has passed");
}

// Calls a function in C with a pointer and, unless `place` is 0, a function of the prelude. Leaves the result or the error above those.
static runway_lua_status protect(runway_lua *lua, lua_CFunction function, void *arguments, int place, uint64_t deadline) {
    lua_settop(lua->state, lua->functions);
    lua->deadline = deadline;
    lua->is_stopped = false;
    lua_sethook(lua->state, look, LUA_MASKCOUNT | LUA_MASKCALL, interval);
    lua_pushcfunction(lua->state, function);
    lua_pushlightuserdata(lua->state, arguments);
    if (place) lua_pushvalue(lua->state, place);
    bool is_ok = lua_pcall(lua->state, place ? 2 : 1, LUA_MULTRET, 0) == LUA_OK;
    return lua->is_stopped ? RUNWAY_LUA_STOPPED : is_ok ? RUNWAY_LUA_OK : RUNWAY_LUA_THREW;
}

typedef struct {
    const char *source, *name;
    size_t count;
} chunk;

static int run(lua_State *state) {
    const chunk *arguments = lua_touserdata(state, 1);
    lua_settop(state, 0);
    if (luaL_loadbufferx(state, arguments->source, arguments->count, arguments->name, "t") != LUA_OK) return lua_error(state);
    lua_call(state, 0, LUA_MULTRET);
    return lua_gettop(state);
}

static int prepare(lua_State *state) {
    // Neither `io`, `os`, `package`, `coroutine` nor `debug`.
    static const luaL_Reg libraries[] = {
        {LUA_GNAME, luaopen_base}, {LUA_TABLIBNAME, luaopen_table}, {LUA_STRLIBNAME, luaopen_string},
        {LUA_MATHLIBNAME, luaopen_math}, {LUA_UTF8LIBNAME, luaopen_utf8}, {NULL, NULL},
    };
    for (const luaL_Reg *library = libraries; library->func; library++) {
        luaL_requiref(state, library->name, library->func, 1);
        lua_pop(state, 1);
    }
    return run(state);
}

runway_lua *runway_lua_create(size_t maximum_byte_count, const char *prelude, size_t count) {
    runway_lua *lua = calloc(1, sizeof *lua);
    if (!lua) return NULL;
    lua->maximum_byte_count = maximum_byte_count;
    lua->state = lua_newstate(allocate, lua);
    chunk arguments = {prelude, "=runway", count};
    if (!lua->state || protect(lua, prepare, &arguments, 0, UINT64_MAX) != RUNWAY_LUA_OK) {
        runway_lua_destroy(lua);
        return NULL;
    }
    lua->functions = lua_gettop(lua->state);
    return lua;
}

void runway_lua_destroy(runway_lua *lua) {
    if (lua->state) lua_close(lua->state);
    free(lua);
}

runway_lua_status runway_lua_run(runway_lua *lua, const char *source, size_t count, const char *name, uint64_t deadline) {
    chunk arguments = {source, name, count};
    return protect(lua, run, &arguments, 0, deadline);
}

typedef struct {
    const char *input;
    size_t count;
    int64_t number, seed;
    double now;
} invocation;

static int invoke(lua_State *state) {
    const invocation *arguments = lua_touserdata(state, 1);
    // The function of the prelude is the second argument.
    lua_pushinteger(state, arguments->number);
    lua_pushlstring(state, arguments->input, arguments->count);
    lua_pushnumber(state, arguments->now);
    lua_pushinteger(state, arguments->seed);
    lua_call(state, 4, 1);
    return 1;
}

runway_lua_status runway_lua_call(
    runway_lua *lua, int place, int64_t number, const char *input, size_t count, double now, int64_t seed, uint64_t deadline) {
    invocation arguments = {input, count, number, seed, now};
    return protect(lua, invoke, &arguments, place, deadline);
}

const char *runway_lua_result(runway_lua *lua, size_t *count) {
    if (lua_gettop(lua->state) <= lua->functions || lua_type(lua->state, -1) != LUA_TSTRING) return NULL;
    return lua_tolstring(lua->state, -1, count);
}

#endif
