// A path of a given length between two network namespaces of Linux, each of which has a TUN device: carries their packets from one to
// the other and holds each back for half a round trip. What opens a connection is delayed like all else. Beside it, a server at the far
// end gives every byte back, so that a bare round trip can be measured.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { largest_packet = 2048, most_packets = 1 << 14 };

typedef struct {
    int64_t due;
    size_t byte_count;
    char bytes[largest_packet];
} packet;

/// One direction. The packets wait in a ring; what comes while it is full is dropped, as a router would.
typedef struct {
    int from, to;
    int64_t delay;
    packet *ring;
    size_t first, count;
} direction;

static _Noreturn void fail(const char *what) {
    perror(what);
    exit(1);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/// Takes the calling thread to a namespace that `ip netns` made.
static void enter(const char *namespace) {
    char path[256];
    snprintf(path, sizeof path, "/run/netns/%s", namespace);
    int handle = open(path, O_RDONLY | O_CLOEXEC);
    if (handle < 0 || setns(handle, CLONE_NEWNET) != 0) fail(path);
    close(handle);
}

/// Opens the device of the namespace that the thread is in.
static int open_device(const char *name) {
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (device < 0) fail("/dev/net/tun");
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    if (ioctl(device, TUNSETIFF, &request) != 0) fail(name);
    return device;
}

static void take(direction *own) {
    for (;;) {
        static _Thread_local char spare[largest_packet];
        packet *next = own->count < most_packets ? &own->ring[(own->first + own->count) % most_packets] : NULL;
        ssize_t byte_count = read(own->from, next ? next->bytes : spare, largest_packet);
        if (byte_count <= 0) return;
        if (!next) continue;
        next->byte_count = (size_t)byte_count;
        next->due = now() + own->delay;
        own->count++;
    }
}

static void give(direction *own) {
    while (own->count > 0 && own->ring[own->first].due <= now()) {
        packet *next = &own->ring[own->first];
        if (write(own->to, next->bytes, next->byte_count) < 0 && errno == EAGAIN) return;
        own->first = (own->first + 1) % most_packets;
        own->count--;
    }
}

static void *carry(void *context) {
    direction *own = context;
    // Wakes when it is due, and not 50 µs later, which the kernel allows itself otherwise.
    prctl(PR_SET_TIMERSLACK, 1UL);
    for (;;) {
        struct pollfd device = {.fd = own->from, .events = POLLIN};
        struct timespec wait = {0}, *limit = NULL;
        if (own->count > 0) {
            int64_t left = own->ring[own->first].due - now();
            if (left > 0) wait = (struct timespec){.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
            limit = &wait;
        }
        if (ppoll(&device, 1, limit, NULL) < 0 && errno != EINTR) fail("ppoll");
        give(own);
        take(own);
    }
}

static void start(void *(*body)(void *), void *context, int priority) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, context) != 0) fail("pthread_create");
    // Goes before what is measured. Where that is not allowed, the path is a little longer, and measured as such.
    if (priority > 0) pthread_setschedparam(thread, SCHED_FIFO, &(struct sched_param){.sched_priority = priority});
    pthread_detach(thread);
}

/// Echoes the bytes of one connection.
static void *echo(void *context) {
    int connection = (int)(intptr_t)context;
    char bytes[256];
    ssize_t byte_count;
    while ((byte_count = read(connection, bytes, sizeof bytes)) > 0) {
        if (write(connection, bytes, (size_t)byte_count) != byte_count) break;
    }
    close(connection);
    return NULL;
}

static _Noreturn void serve_echoes(uint16_t port) {
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = INADDR_ANY};
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(server, (struct sockaddr *)&address, sizeof address) != 0 || listen(server, 16) != 0) fail("echo");
    puts("ready");
    fflush(stdout);
    for (;;) {
        int connection = accept(server, NULL, NULL);
        if (connection < 0) fail("accept");
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        start(echo, (void *)(intptr_t)connection, 0);
    }
}

int main(int argument_count, char **arguments) {
    if (argument_count != 6) {
        fprintf(stderr, "usage: FarPath NEAR-NAMESPACE FAR-NAMESPACE DEVICE MICROSECONDS-OF-ROUND-TRIP ECHO-PORT\n");
        return 2;
    }
    int64_t delay = atoll(arguments[4]) * 1000 / 2;
    enter(arguments[1]);
    int near = open_device(arguments[3]);
    enter(arguments[2]);
    int far = open_device(arguments[3]);
    direction ways[] = {{.from = near, .to = far, .delay = delay}, {.from = far, .to = near, .delay = delay}};
    for (int index = 0; index < 2; index++) {
        ways[index].ring = calloc(most_packets, sizeof(packet));
        if (!ways[index].ring) fail("calloc");
        start(carry, &ways[index], 1);
    }
    // In the far namespace, where this thread is now.
    serve_echoes((uint16_t)atoi(arguments[5]));
}
