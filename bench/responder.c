/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * nailup-bench responder: an upstream DNS server that is as slow, lossy, short of patience or
 * broken as it is told to be. This file starts it, turns its loop and keeps its delay line.
 */

#include "responder.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/check.h"
#include "base/rand.h"
#include "bench.h"
#include "clock.h"
#include "options.h"

enum { SWEEP_US = 10000, PORT_ATTEMPTS = 16 };

static const char usage[] =
    "usage: nailup-bench responder [OPTION]...\n\n"
    "  --listen IP@PORT           serve there, UDP and TCP; may be repeated (127.0.0.1@5300);\n"
    "                             port 0: one that is free\n"
    "  --delay MS                 round trip of every answer     --jitter MS  and up to MS more\n"
    "  --loss PERCENT             of UDP queries that are lost\n"
    "  --handshake on|off         a new connection costs one more delay (on)\n"
    "  --tcp-refuse               no TCP until told 'tcp on'\n"
    "  --tcp-reset-after N        RST at a connection's Nth query\n"
    "  --tcp-close-after N        FIN after N answers\n"
    "  --tcp-stall-after N        silence after N queries\n"
    "  --tcp-idle MS              FIN after MS without a query\n"
    "  --tcp-silent               TCP queries are read and never answered\n"
    "  --one-shot-per-connection  only the first query of a connection is answered\n"
    "  --max-in-flight N          unanswered queries of a connection; then it is not read\n"
    "  --keepalive T              RFC 7828 timeout in units of 100 ms, 0 too (none)\n"
    "  --cookies on|off|required  RFC 7873 (off)\n"
    "  --ttl S (300)  --negative-ttl S (60)  --authoritative (AA)\n"
    "  --no-case                  the question comes back in lower case\n"
    "  --control PATH             Unix socket for commands (nailup-bench control)\n"
    "  --stdin                    commands on standard input\n"
    "  --json                     the figures as JSON on standard output at the end\n\n"
    "Labels in a name ask for more: d250 ttl5 nx nodata servfail refused big cname tc silent\n"
    "silentudp silenttcp wrongid wrongname close reset stall. See nailup-bench(1).\n";

uint64_t responder_due_us(const struct responder *responder, const struct answer *answer,
                          const struct conn *conn)
{
    const struct responder_options *options = &responder->options;
    uint64_t start = responder->now_us;
    uint64_t delay_us = (uint64_t)(options->delay_ms * 1000);
    /* Loopback connects in no time. Over a distance the first query would leave only one round
     * trip after the dial, so nothing on a connection is answered before two. */
    if (conn && options->handshake && delay_us)
        start = MAX(start, conn->accepted_at + delay_us);
    if (answer->has_delay)
        delay_us = (uint64_t)answer->delay_ms * 1000;
    if (options->jitter_ms > 0)
        delay_us += rand_below((uint64_t)(options->jitter_ms * 1000) + 1);
    return start + delay_us;
}

bool responder_delay(struct responder *responder, const struct delayed_answer *like,
                     const uint8_t *bytes, uint64_t due_us)
{
    struct delayed_answer *answer = malloc(sizeof(*answer) + like->len);
    if (!answer)
        return false;
    *answer = *like;
    answer->delayed.due_us = due_us;
    memcpy(answer->bytes, bytes, like->len);
    if (delay_line_add(&responder->line, &answer->delayed) == ERR_OK)
        return true;
    free(answer);
    return false;
}

static void send_due(struct responder *responder)
{
    struct delayed *item;
    while ((item = delay_line_take(&responder->line, responder->now_us))) {
        struct delayed_answer *answer = CONTAINER_OF(item, struct delayed_answer, delayed);
        if (answer->conn) {
            answer->conn->delayed--;
            responder_tcp_answer(answer->conn, answer->bytes, answer->len);
        } else {
            responder_udp_send(responder, answer);
        }
        free(answer);
    }
}

static void sweep(struct responder *responder, uint64_t *sweep_at)
{
    if (responder->options.tcp_idle_ms == 0 || responder->now_us < *sweep_at)
        return;
    *sweep_at = responder->now_us + SWEEP_US;
    for (size_t i = 0; i < responder->listener_count; i++)
        responder_tcp_sweep(responder->listeners[i]);
}

static int64_t wait_us(const struct responder *responder, uint64_t sweep_at)
{
    uint64_t next = delay_line_next_us(&responder->line), now = clock_now_us();
    if (responder->options.tcp_idle_ms)
        next = MIN(next, sweep_at);
    if (next == UINT64_MAX)
        return POLLER_NEVER_US;
    return next > now ? (int64_t)(next - now) : 0;
}

static void run(struct responder *responder)
{
    uint64_t sweep_at = 0;
    while (!responder->stopping) {
        poller_turn(responder->poller, wait_us(responder, sweep_at), &responder->now_us);
        send_due(responder);
        responder_udp_flush(responder);
        responder_tcp_flush(responder);
        sweep(responder, &sweep_at);
    }
}

/* UDP first, so that port 0 becomes a number that TCP then takes too, if it is free there. */
static enum err open_both(struct listener *listener)
{
    struct addr wanted = listener->addr;
    enum err err = ERR_ADDRESS_IN_USE;
    int attempts = addr_port(&wanted) ? 1 : PORT_ATTEMPTS;
    while (attempts-- && err == ERR_ADDRESS_IN_USE) {
        listener->addr = wanted;
        err = responder_udp_listen(listener);
        if (err == ERR_OK && listener->responder->options.tcp)
            err = responder_tcp_listen(listener);
        if (err && listener->udp.fd >= 0) {
            close(listener->udp.fd);
            listener->udp.fd = -1;
        }
    }
    return err;
}

static bool add_listener(struct responder *responder, const struct addr *addr)
{
    struct listener *listener = calloc(1, sizeof(*listener));
    if (!listener || responder->listener_count == LISTENERS_MAX)
        return free(listener), false;
    listener->responder = responder;
    listener->addr = *addr;
    listener->udp.fd = listener->tcp.fd = -1;
    list_init(&listener->conns);
    responder->listeners[responder->listener_count++] = listener;
    return true;
}

static enum err open_listeners(struct responder *responder)
{
    for (size_t i = 0; i < responder->listener_count; i++) {
        enum err err = open_both(responder->listeners[i]);
        if (err) {
            char text[ADDR_TEXT_MAX];
            fprintf(stderr, "nailup-bench responder: cannot listen on %s: %s\n",
                    addr_format(&responder->listeners[i]->addr, text), err_str(err));
            return err;
        }
    }
    return ERR_OK;
}

static void responder_deinit(struct responder *responder)
{
    struct delayed *item;
    for (size_t i = 0; i < responder->listener_count; i++) {
        responder_tcp_each(responder->listeners[i], responder_tcp_reset);
        responder_tcp_unlisten(responder->listeners[i]);
    }
    while ((item = delay_line_take(&responder->line, UINT64_MAX))) {
        struct delayed_answer *answer = CONTAINER_OF(item, struct delayed_answer, delayed);
        if (answer->conn)
            answer->conn->delayed--;
        free(answer);
    }
    responder_tcp_flush(responder);
    for (size_t i = 0; i < responder->listener_count; i++) {
        if (responder->listeners[i]->udp.fd >= 0)
            close(responder->listeners[i]->udp.fd);
        free(responder->listeners[i]);
    }
    delay_line_deinit(&responder->line);
    responder_control_close(responder);
    responder_udp_free(responder);
    close(responder->poller);
}

/* SIGTERM and SIGINT end the loop as "quit" does. */
struct stopper {
    struct watch watch;
    struct responder *responder;
};

static void on_signal(struct watch *watch, uint32_t events)
{
    (void)events;
    CONTAINER_OF(watch, struct stopper, watch)->responder->stopping = true;
}

static enum err watch_signals(struct stopper *stopper, struct responder *responder)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    stopper->responder = responder;
    stopper->watch = (struct watch){.fd = signalfd(-1, &set, SFD_CLOEXEC), .on_ready = on_signal};
    return poller_add(responder->poller, &stopper->watch, EPOLLIN);
}

static void print_ready(const struct responder *responder)
{
    char text[ADDR_TEXT_MAX];
    fputs("ready", stdout);
    for (size_t i = 0; i < responder->listener_count; i++)
        printf(" %s", addr_format(&responder->listeners[i]->addr, text));
    putchar('\n');
    fflush(stdout);
}

struct arguments {
    const char *control;
    bool use_stdin, json;
};

static const struct option long_options[] = {
    {"listen", required_argument, NULL, 'l'},
    {"tcp-refuse", no_argument, NULL, 'r'},
    {"control", required_argument, NULL, 'c'},
    {"stdin", no_argument, NULL, 'i'},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    /* The rest is a setting of the same name; a flag means "on". */
    {"one-shot-per-connection", no_argument, NULL, 's'},
    {"no-case", no_argument, NULL, 's'},
    {"tcp-silent", no_argument, NULL, 's'},
    {"authoritative", no_argument, NULL, 's'},
    {"delay", required_argument, NULL, 's'},
    {"jitter", required_argument, NULL, 's'},
    {"loss", required_argument, NULL, 's'},
    {"handshake", required_argument, NULL, 's'},
    {"tcp-reset-after", required_argument, NULL, 's'},
    {"tcp-close-after", required_argument, NULL, 's'},
    {"tcp-stall-after", required_argument, NULL, 's'},
    {"tcp-idle", required_argument, NULL, 's'},
    {"max-in-flight", required_argument, NULL, 's'},
    {"keepalive", required_argument, NULL, 's'},
    {"cookies", required_argument, NULL, 's'},
    {"ttl", required_argument, NULL, 's'},
    {"negative-ttl", required_argument, NULL, 's'},
    {NULL, 0, NULL, 0},
};

static void take_setting(struct responder *responder, const char *name, const char *value)
{
    char why[256];
    if (!responder_set(&responder->options, name, value ? value : "on", why))
        option_wrong("responder", "--%s", why);
}

static void take_arguments(struct responder *responder, struct arguments *arguments, int argc,
                           char **argv)
{
    int option, index = 0;
    struct addr addr;
    while ((option = getopt_long(argc, argv, "", long_options, &index)) != -1) {
        if (option == 'l') {
            addr = option_addr("responder", "listen", optarg);
            if (!add_listener(responder, &addr))
                option_wrong("responder", "--listen may be given %d times", LISTENERS_MAX);
        } else if (option == 's') {
            take_setting(responder, long_options[index].name, optarg);
        } else if (option == 'r') {
            responder->options.tcp = false;
        } else if (option == 'c') {
            arguments->control = optarg;
        } else if (option == 'i') {
            arguments->use_stdin = true;
        } else if (option == 'j') {
            arguments->json = true;
        } else if (option == 'h') {
            fputs(usage, stdout);
            exit(0);
        } else {
            option_wrong("responder", "that is not an option of it");
        }
    }
    if (optind < argc)
        option_wrong("responder", "takes no '%s'", argv[optind]);
    if (responder->listener_count == 0 &&
        (addr_parse(&addr, "127.0.0.1@5300", 0) || !add_listener(responder, &addr)))
        option_wrong("responder", "has no address to listen on");
}

/* Thirty upstreams with thousands of connections want more than the usual 1024. */
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static enum err start(struct responder *responder, const struct arguments *arguments,
                      struct stopper *stopper)
{
    enum err err = responder_udp_new(responder);
    if (!err)
        err = open_listeners(responder);
    if (!err)
        err = watch_signals(stopper, responder);
    if (!err && (arguments->control || arguments->use_stdin)) {
        err = responder_control_open(responder, arguments->control, arguments->use_stdin);
        if (err)
            fprintf(stderr, "nailup-bench responder: control: %s\n", err_str(err));
    }
    return err;
}

int responder_main(int argc, char **argv)
{
    static struct responder responder;
    struct arguments arguments = {0};
    struct stopper stopper = {.watch.fd = -1};
    responder_options_init(&responder.options);
    delay_line_init(&responder.line);
    list_init(&responder.dirty);
    list_init(&responder.graves);
    take_arguments(&responder, &arguments, argc, argv);
    raise_file_limit();
    enum err err = poller_open(&responder.poller);
    if (!err)
        err = start(&responder, &arguments, &stopper);
    if (!err) {
        responder.now_us = clock_now_us();
        print_ready(&responder);
        run(&responder);
        if (arguments.json) {
            responder_stats_json(&responder, stdout);
            putchar('\n');
        }
    }
    responder_deinit(&responder);
    if (stopper.watch.fd >= 0)
        close(stopper.watch.fd);
    return err ? 1 : 0;
}
