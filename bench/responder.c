/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * nailup-bench responder: an upstream DNS server that is as slow, lossy, impatient or broken as its
 * settings say. This file starts it, runs its loop and sends the answers that are due.
 */

#include "responder.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/check.h"
#include "bench.h"
#include "clock.h"

enum { SWEEP_US = 10000, PORT_ATTEMPTS = 16 };

static void responder_send_due(struct responder *responder)
{
    struct delayed *item;
    while ((item = delay_line_take(&responder->line, responder->now_us))) {
        struct delayed_answer *answer = CONTAINER_OF(item, struct delayed_answer, delayed);
        if (answer->conn) {
            answer->conn->delayed--;
            if (answer->len == 0)
                responder_tcp_release(answer->conn);
            else
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

static int64_t responder_wait_us(const struct responder *responder, uint64_t sweep_at)
{
    uint64_t next = delay_line_next_us(&responder->line), now = clock_now_us();
    if (responder->options.tcp_idle_ms)
        next = MIN(next, sweep_at);
    if (next == UINT64_MAX)
        return POLLER_NEVER_US;
    return next > now ? (int64_t)(next - now) : 0;
}

static void responder_run(struct responder *responder)
{
    uint64_t sweep_at = 0;
    while (!responder->stopping) {
        poller_turn(responder->poller, responder_wait_us(responder, sweep_at), &responder->now_us);
        responder_send_due(responder);
        responder_udp_flush(responder);
        responder_tcp_flush(responder);
        sweep(responder, &sweep_at);
    }
}

/* UDP comes first: port 0 becomes a number, and TCP takes the same if it is free. */
static enum err open_both(struct listener *listener)
{
    struct addr wanted = listener->addr;
    enum err err = ERR_ADDRESS_IN_USE;
    int attempts = addr_port(&wanted) ? 1 : PORT_ATTEMPTS;
    while (attempts-- && err == ERR_ADDRESS_IN_USE) {
        listener->addr = wanted;
        err = listener->is_tls ? ERR_OK : responder_udp_listen(listener);
        if (err == ERR_OK && (listener->is_tls || listener->responder->options.tcp))
            err = responder_tcp_listen(listener);
        if (err && listener->udp.fd >= 0) {
            close(listener->udp.fd);
            listener->udp.fd = -1;
        }
    }
    return err;
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
        responder_conn_each(responder->listeners[i], responder_tcp_reset);
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
    tls_server_free(responder->tls);
    close(responder->poller);
}

/* SIGTERM and SIGINT end the loop, as the command "quit" does. */
struct stopper {
    struct watch watch;
    struct responder *responder;
};

static void responder_on_signal(struct watch *watch, uint32_t events)
{
    (void)events;
    CONTAINER_OF(watch, struct stopper, watch)->responder->stopping = true;
}

static enum err responder_watch_signals(struct stopper *stopper, struct responder *responder)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    stopper->responder = responder;
    stopper->watch =
        (struct watch){.fd = signalfd(-1, &set, SFD_CLOEXEC), .on_ready = responder_on_signal};
    return poller_add(responder->poller, &stopper->watch, EPOLLIN);
}

static void print_addresses(const struct responder *responder, bool is_tls)
{
    char text[ADDR_TEXT_MAX];
    for (size_t i = 0; i < responder->listener_count; i++)
        if (responder->listeners[i]->is_tls == is_tls)
            printf(" %s", addr_format(&responder->listeners[i]->addr, text));
}

/* Prints one line, and a second one with TLS. */
static void responder_print_ready(const struct responder *responder)
{
    fputs("ready", stdout);
    print_addresses(responder, false);
    if (responder->tls) {
        fputs("\ntls", stdout);
        print_addresses(responder, true);
        printf(" pin-sha256 %s", tls_server_pin(responder->tls));
    }
    putchar('\n');
    fflush(stdout);
}

static bool write_or_complain(bool ok, const char *path)
{
    if (!ok)
        fprintf(stderr, "nailup-bench responder: cannot write %s: %s\n", path, strerror(errno));
    return ok;
}

/* Runs after the listeners are open, because the certificate contains their addresses. */
static bool start_tls(struct responder *responder, const struct responder_arguments *arguments)
{
    struct addr addrs[LISTENERS_MAX];
    size_t count = 0;
    char why[TLS_TEXT_MAX];
    for (size_t i = 0; i < responder->listener_count; i++)
        if (responder->listeners[i]->is_tls)
            addrs[count++] = responder->listeners[i]->addr;
    if (count == 0)
        return true;
    responder->tls = tls_server_new(arguments->tls_name, addrs, count, arguments->tls_certificate,
                                    arguments->tls_key, why);
    if (!responder->tls) {
        fprintf(stderr, "nailup-bench responder: %s\n", why);
        return false;
    }
    const char *ca_file = arguments->tls_ca_file, *client_file = arguments->tls_client_file;
    return (!ca_file ||
            write_or_complain(tls_server_write_authority(responder->tls, ca_file), ca_file)) &&
           (!client_file ||
            write_or_complain(tls_server_write_client(responder->tls, client_file), client_file));
}

/* Thirty upstreams with thousands of connections need more files than the usual 1024. */
static void responder_raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static enum err responder_start(struct responder *responder,
                                const struct responder_arguments *arguments,
                                struct stopper *stopper)
{
    enum err err = responder_udp_new(responder);
    if (!err)
        err = open_listeners(responder);
    if (!err && !start_tls(responder, arguments))
        err = ERR_IO;
    if (!err)
        err = responder_watch_signals(stopper, responder);
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
    struct responder_arguments arguments = {.tls_name = "responder.test"};
    struct stopper stopper = {.watch.fd = -1};
    responder_options_init(&responder.options);
    delay_line_init(&responder.line);
    list_init(&responder.dirty);
    list_init(&responder.graves);
    responder_arguments_take(&responder, &arguments, argc, argv);
    responder_raise_file_limit();
    enum err err = poller_open(&responder.poller);
    if (!err)
        err = responder_start(&responder, &arguments, &stopper);
    if (!err) {
        responder.now_us = clock_now_us();
        responder_print_ready(&responder);
        responder_run(&responder);
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
