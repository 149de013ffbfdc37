/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * nailup-bench udp-floor: the least cost of an answer over UDP, as a base for comparison. It
 * receives a query, sets QR, appends one fixed A record, and sends. It only looks for the end of
 * the question. With --batch it receives and sends up to N at a time.
 */

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"
#include "json.h"
#include "options.h"
#include "wire.h"

enum { MESSAGE_MAX = 2048, RECORD_BYTES = 16, BATCH_MAX = 64, SOCKET_BUFFER_BYTES = 4 << 20 };

static const char usage[] =
    "usage: nailup-bench udp-floor [--listen IP@PORT] [--batch N] [--json]\n\n"
    "  --listen IP@PORT  where (127.0.0.1@5301)\n"
    "  --batch N         recvmmsg and sendmmsg of up to N, at most 64;\n"
    "                    1, the default: recvfrom and sendto\n"
    "  --json            prints where it listens as JSON\n\n"
    "Runs until it is killed.\n";

static const uint8_t record[RECORD_BYTES] = {0xC0, 0x0C, 0, 1, 0,  1, 0, 0,
                                             1,    44,   0, 4, 10, 0, 0, 1};

/* Turns the query into its answer in place. Returns 0 if the message is not a query. */
static size_t udp_floor_turn(uint8_t *message, size_t len)
{
    size_t end = wire_question_end(span_of(message, len));
    if (end == 0 || message[2] & 0x80)
        return 0;
    message[2] |= 0x80;
    put_u16(message + 6, 1);
    put_u16(message + 10, 0); /* drops the OPT record, which would follow the answer */
    memcpy(message + end, record, RECORD_BYTES);
    return end + RECORD_BYTES;
}

static void serve_single(int fd)
{
    uint8_t message[MESSAGE_MAX + RECORD_BYTES];
    struct addr from;
    for (;;) {
        socklen_t from_len = sizeof(from);
        ssize_t n = recvfrom(fd, message, MESSAGE_MAX, 0, &from.sa, &from_len);
        size_t len = n > 0 ? udp_floor_turn(message, (size_t)n) : 0;
        if (len)
            sendto(fd, message, len, 0, &from.sa, from_len);
    }
}

static void serve_batches(int fd, unsigned batch)
{
    static uint8_t messages[BATCH_MAX][MESSAGE_MAX + RECORD_BYTES];
    static struct addr from[BATCH_MAX];
    struct iovec iov[BATCH_MAX];
    struct mmsghdr in[BATCH_MAX], out[BATCH_MAX];
    for (;;) {
        memset(in, 0, batch * sizeof(*in));
        for (unsigned i = 0; i < batch; i++) {
            iov[i] = (struct iovec){messages[i], MESSAGE_MAX};
            in[i].msg_hdr = (struct msghdr){.msg_name = &from[i],
                                            .msg_namelen = sizeof(from[i]),
                                            .msg_iov = &iov[i],
                                            .msg_iovlen = 1};
        }
        int count = recvmmsg(fd, in, batch, MSG_WAITFORONE, NULL);
        unsigned ready = 0;
        for (int i = 0; i < count; i++) {
            iov[i].iov_len = udp_floor_turn(messages[i], in[i].msg_len);
            if (iov[i].iov_len)
                out[ready++] = in[i];
        }
        for (unsigned sent = 0; sent < ready;) {
            int n = sendmmsg(fd, out + sent, ready - sent, 0);
            sent += n > 0 ? (unsigned)n : 1;
        }
    }
}

static int open_socket(struct addr *listen)
{
    int size = SOCKET_BUFFER_BYTES;
    int fd = socket(addr_family(listen), SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t len = sizeof(*listen);
    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
    if (bind(fd, &listen->sa, addr_len(listen)) || getsockname(fd, &listen->sa, &len)) {
        close(fd);
        return -1;
    }
    return fd;
}

static void udp_floor_print_ready(const struct addr *listen, bool as_json)
{
    char text[ADDR_TEXT_MAX];
    addr_format(listen, text);
    if (as_json) {
        struct json json = {.out = stdout};
        json_open(&json, NULL, '{');
        json_text(&json, "ready", text);
        json_close(&json, '}');
        putchar('\n');
    } else {
        printf("ready %s\n", text);
    }
    fflush(stdout);
}

int udp_floor_main(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"listen", required_argument, NULL, 'l'},
        {"batch", required_argument, NULL, 'b'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct addr listen = option_addr("udp-floor", "listen", "127.0.0.1@5301");
    unsigned batch = 1;
    bool as_json = false;
    int option;
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        if (option == 'l')
            listen = option_addr("udp-floor", "listen", optarg);
        else if (option == 'b')
            batch = (unsigned)option_u64("udp-floor", "batch", optarg, 1, BATCH_MAX);
        else if (option == 'j')
            as_json = true;
        else if (option == 'h')
            return fputs(usage, stdout), 0;
        else
            option_wrong("udp-floor", "there is no such option");
    }
    if (optind < argc)
        option_wrong("udp-floor", "takes no '%s'", argv[optind]);
    int fd = open_socket(&listen);
    if (fd < 0) {
        fprintf(stderr, "nailup-bench udp-floor: cannot listen: %s\n", strerror(errno));
        return 1;
    }
    udp_floor_print_ready(&listen, as_json);
    if (batch == 1)
        serve_single(fd);
    else
        serve_batches(fd, batch);
    return 0;
}
