#include "curl_client.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct curl_client {
    CURLM *multi;
    char *roots;
    int http2;
    double first_byte;
};

/// One of the transfers that go on at once, used again for the next.
typedef struct {
    curl_client *client;
    CURL *easy;
    char *bytes;
    size_t byte_count, capacity;
} transfer;

curl_client *curl_client_make(const char *roots, int http2) {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0) return NULL;
    curl_client *client = calloc(1, sizeof *client);
    if (!client) return NULL;
    client->multi = curl_multi_init();
    client->roots = strdup(roots);
    client->http2 = http2;
    curl_multi_setopt(client->multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    return client;
}

// An app wants the bytes in memory; so they are stored here, too.
static size_t receive(char *bytes, size_t size, size_t count, void *context) {
    transfer *own = context;
    size_t byte_count = size * count;
    if (own->byte_count + byte_count > own->capacity) return 0;
    if (own->client->first_byte == 0) {
        struct timespec time;
        clock_gettime(CLOCK_MONOTONIC, &time);
        own->client->first_byte = (double)time.tv_sec + (double)time.tv_nsec / 1e9;
    }
    memcpy(own->bytes + own->byte_count, bytes, byte_count);
    own->byte_count += byte_count;
    return byte_count;
}

static int begin(curl_client *client, transfer *own, const char *url) {
    own->byte_count = 0;
    curl_easy_reset(own->easy);
    curl_easy_setopt(own->easy, CURLOPT_URL, url);
    curl_easy_setopt(own->easy, CURLOPT_CAINFO, client->roots);
    curl_easy_setopt(own->easy, CURLOPT_HTTP_VERSION, client->http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(own->easy, CURLOPT_PIPEWAIT, client->http2 ? 1L : 0L);
    curl_easy_setopt(own->easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(own->easy, CURLOPT_WRITEDATA, own);
    curl_easy_setopt(own->easy, CURLOPT_PRIVATE, own);
    curl_easy_setopt(own->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(own->easy, CURLOPT_TIMEOUT, 60L);
    return curl_multi_add_handle(client->multi, own->easy) == CURLM_OK ? 0 : 1;
}

int curl_client_run(curl_client *client, const char *url, long count, long at_a_time, size_t byte_count) {
    if (at_a_time > count) at_a_time = count;
    transfer *transfers = calloc((size_t)at_a_time, sizeof *transfers);
    if (!transfers) return 1;
    int failures = 0, running = 0;
    client->first_byte = 0;
    long begun = 0, ended = 0;
    for (; begun < at_a_time; begun++) {
        transfer *own = &transfers[begun];
        own->client = client;
        own->easy = curl_easy_init();
        own->capacity = byte_count;
        own->bytes = malloc(byte_count);
        failures += begin(client, own, url);
    }
    while (ended < count && failures == 0) {
        if (curl_multi_perform(client->multi, &running) != CURLM_OK) { failures++; break; }
        CURLMsg *message;
        int left;
        while ((message = curl_multi_info_read(client->multi, &left))) {
            if (message->msg != CURLMSG_DONE) continue;
            transfer *own;
            long status = 0;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&own);
            curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
            if (message->data.result != CURLE_OK || status != 200 || own->byte_count != byte_count) failures++;
            ended++;
            curl_multi_remove_handle(client->multi, own->easy);
            if (begun < count) {
                begun++;
                failures += begin(client, own, url);
            }
        }
        if (ended < count) curl_multi_poll(client->multi, NULL, 0, 1000, NULL);
    }
    for (long index = 0; index < at_a_time; index++) {
        curl_multi_remove_handle(client->multi, transfers[index].easy);
        curl_easy_cleanup(transfers[index].easy);
        free(transfers[index].bytes);
    }
    free(transfers);
    return failures;
}

double curl_client_first_byte(const curl_client *client) { return client->first_byte; }

void curl_client_free(curl_client *client) {
    curl_multi_cleanup(client->multi);
    free(client->roots);
    free(client);
}
