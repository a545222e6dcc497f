#ifndef RUNWAY_JAVASCRIPT_H
#define RUNWAY_JAVASCRIPT_H

// Imported only where the package trait "Scripts" is on, and JavaScriptCore with it.
#ifdef __APPLE__
#include <JavaScriptCore/JavaScriptCore.h>
#else
#include <stdbool.h>
#include <stddef.h>

// The part of JavaScriptCore's C interface that is used. Its binary interface never changes, and WebKitGTK's header files are in a folder that
// only pkg-config names.
typedef const struct OpaqueJSContextGroup *JSContextGroupRef;
typedef const struct OpaqueJSContext *JSContextRef;
typedef struct OpaqueJSContext *JSGlobalContextRef;
typedef struct OpaqueJSClass *JSClassRef;
typedef struct OpaqueJSString *JSStringRef;
typedef const struct OpaqueJSValue *JSValueRef;
typedef struct OpaqueJSValue *JSObjectRef;

JSContextGroupRef JSContextGroupCreate(void);
void JSContextGroupRelease(JSContextGroupRef group);
JSGlobalContextRef JSGlobalContextCreateInGroup(JSContextGroupRef group, JSClassRef global_class);
void JSGlobalContextRelease(JSGlobalContextRef context);

JSStringRef JSStringCreateWithUTF8CString(const char *text);
void JSStringRelease(JSStringRef string);
size_t JSStringGetLength(JSStringRef string);
size_t JSStringGetMaximumUTF8CStringSize(JSStringRef string);
size_t JSStringGetUTF8CString(JSStringRef string, char *buffer, size_t size);

JSValueRef JSEvaluateScript(
    JSContextRef context, JSStringRef script, JSObjectRef this_object, JSStringRef url, int first_line, JSValueRef *exception);
JSValueRef JSObjectCallAsFunction(
    JSContextRef context, JSObjectRef function, JSObjectRef this_object, size_t count, const JSValueRef *arguments, JSValueRef *exception);
JSValueRef JSObjectGetProperty(JSContextRef context, JSObjectRef object, JSStringRef name, JSValueRef *exception);
JSValueRef JSObjectGetPropertyAtIndex(JSContextRef context, JSObjectRef object, unsigned index, JSValueRef *exception);
JSObjectRef JSValueToObject(JSContextRef context, JSValueRef value, JSValueRef *exception);
JSStringRef JSValueToStringCopy(JSContextRef context, JSValueRef value, JSValueRef *exception);
double JSValueToNumber(JSContextRef context, JSValueRef value, JSValueRef *exception);
bool JSValueIsString(JSContextRef context, JSValueRef value);
bool JSValueIsNumber(JSContextRef context, JSValueRef value);
bool JSValueIsObject(JSContextRef context, JSValueRef value);
JSValueRef JSValueMakeString(JSContextRef context, JSStringRef string);
JSValueRef JSValueMakeNumber(JSContextRef context, double number);
void JSValueProtect(JSContextRef context, JSValueRef value);
void JSValueUnprotect(JSContextRef context, JSValueRef value);

// Not part of the interface of Apple's systems. The callback runs on the thread of the script, each time when it has used `seconds` of the
// processor, and ends it by returning true. No script can catch that.
void JSContextGroupSetExecutionTimeLimit(
    JSContextGroupRef group, double seconds, bool (*callback)(JSContextRef context, void *clock), void *clock);

// Only in WebKitGTK: reads an option, which the engine takes from the environment at its start. Returns 0 if no option has the name.
int jsc_options_get_boolean(const char *option, int *value);
#endif

#endif
