#ifndef RUNWAY_LUA_H
#define RUNWAY_LUA_H

#include <stddef.h>
#include <stdint.h>

// Lua 5.4 behind protected calls. An error of Lua leaves the stack by longjmp, which may cross functions in C only. Empty unless the
// package trait "Lua" is on, which needs the interpreter.

typedef struct runway_lua runway_lua;

typedef enum { RUNWAY_LUA_OK, RUNWAY_LUA_THREW, RUNWAY_LUA_STOPPED } runway_lua_status;

// Returns NULL if there is no memory, or if the prelude fails, which returns the functions that `runway_lua_call` calls.
runway_lua *_Nullable runway_lua_create(size_t maximum_byte_count, const char *_Nonnull prelude, size_t count);
void runway_lua_destroy(runway_lua *_Nonnull lua);

// Runs text, never bytecode, until a time of Dispatch's clock in nanoseconds.
runway_lua_status runway_lua_run(
    runway_lua *_Nonnull lua, const char *_Nonnull source, size_t count, const char *_Nonnull name, uint64_t deadline);

// Calls one of the functions of the prelude, by its place from 1.
runway_lua_status runway_lua_call(
    runway_lua *_Nonnull lua, int place, int64_t number, const char *_Nonnull input, size_t count, double now, int64_t seed,
    uint64_t deadline);

// The string that the last call returned or threw, until the next call. NULL if it is no string.
const char *_Nullable runway_lua_result(runway_lua *_Nonnull lua, size_t *_Nonnull count);

#endif
