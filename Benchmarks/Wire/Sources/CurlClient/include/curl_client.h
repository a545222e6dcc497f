#ifndef CURL_CLIENT_H
#define CURL_CLIENT_H

#include <stddef.h>

/// A client on libcurl that keeps its connections from one run to the next.
typedef struct curl_client curl_client;

/// Makes a client that trusts the roots in a file. `http2` is 0 for HTTP/1.1 alone.
curl_client *_Nullable curl_client_make(const char *_Nonnull roots, int http2);

/// Makes `count` GETs of one URL, `at_a_time` of them at once.
///
/// Returns 0 if every response had status 200 and `byte_count` bytes.
int curl_client_run(
    curl_client *_Nonnull client, const char *_Nonnull url, long count, long at_a_time, size_t byte_count);

/// When the first byte of a body came in the last run, in seconds of `CLOCK_MONOTONIC`.
double curl_client_first_byte(const curl_client *_Nonnull client);

/// Closes the connections.
void curl_client_free(curl_client *_Nonnull client);

#endif
