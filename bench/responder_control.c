/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Commands to a running responder, one per line, from a Unix socket or from standard input. Each
 * gets an answer of one line: JSON, "ok", or "error: " and a sentence. The client for scripts is
 * here, too.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/check.h"
#include "bench.h"
#include "options.h"
#include "responder.h"
#include "words.h"

enum { LINE_MAX_BYTES = 1024, CLIENTS_MAX = 16, WORDS_MAX = 4 };

/* A source of commands. Answers go to out_fd. */
struct client {
    struct watch watch; /* fd -1: the entry is free */
    struct control *control;
    int out_fd;
    size_t len;
    char line[LINE_MAX_BYTES];
};

struct control {
    struct responder *responder;
    struct watch listener;
    char *path; /* the file to unlink; NULL without a socket */
    struct client clients[CLIENTS_MAX];
};

/* Calls act for each connection, either those with TLS or those without. */
static bool each_conn(struct responder *responder, bool is_tls, void (*act)(struct conn *conn))
{
    for (size_t i = 0; i < responder->listener_count; i++)
        if (responder->listeners[i]->is_tls == is_tls)
            responder_conn_each(responder->listeners[i], act);
    return true;
}

static bool streams_on(struct responder *responder, bool is_tls, FILE *out)
{
    for (size_t i = 0; i < responder->listener_count; i++) {
        if (responder->listeners[i]->is_tls != is_tls)
            continue;
        enum err err = responder_tcp_listen(responder->listeners[i]);
        if (err) {
            fprintf(out, "error: cannot listen: %s", err_str(err));
            return false;
        }
    }
    *(is_tls ? &responder->options.tls : &responder->options.tcp) = true;
    return true;
}

/* Acts as if the machine's TCP had failed with notice: refuses dials, and resets every connection.
 */
static bool streams_off(struct responder *responder, bool is_tls)
{
    for (size_t i = 0; i < responder->listener_count; i++)
        if (responder->listeners[i]->is_tls == is_tls)
            responder_tcp_unlisten(responder->listeners[i]);
    *(is_tls ? &responder->options.tls : &responder->options.tcp) = false;
    return each_conn(responder, is_tls, responder_tcp_reset);
}

/* Loses all packets of connections and dials, or ends that. */
static bool streams_hole(struct responder *responder, bool is_tls, bool is_hole)
{
    for (size_t i = 0; i < responder->listener_count; i++)
        if (responder->listeners[i]->is_tls == is_tls)
            responder_tcp_hole_listener(responder->listeners[i], is_hole);
    return each_conn(responder, is_tls, is_hole ? responder_tcp_hole : responder_tcp_resume);
}

/* Returns false if it has written another answer to out. */
static bool do_streams(struct responder *responder, bool is_tls, const char *what, FILE *out)
{
    if (strcmp(what, "on") == 0)
        return streams_on(responder, is_tls, out);
    if (strcmp(what, "off") == 0)
        return streams_off(responder, is_tls);
    if (strcmp(what, "reset") == 0)
        return each_conn(responder, is_tls, responder_tcp_reset);
    if (strcmp(what, "fin") == 0)
        return each_conn(responder, is_tls, responder_tcp_finish);
    if (strcmp(what, "stall") == 0)
        return each_conn(responder, is_tls, responder_tcp_stall);
    if (strcmp(what, "hole") == 0)
        return streams_hole(responder, is_tls, true);
    if (strcmp(what, "lose") == 0)
        return each_conn(responder, is_tls, responder_tcp_lose);
    if (strcmp(what, "resume") == 0)
        return streams_hole(responder, is_tls, false);
    if (is_tls && strcmp(what, "renew") == 0)
        return each_conn(responder, is_tls, responder_tls_renew);
    if (is_tls && strcmp(what, "forget") == 0 && responder->tls)
        return tls_server_forget(responder->tls), true;
    fprintf(out, "error: %s takes on, off, reset, fin, stall, hole, lose%s or resume",
            is_tls ? "tls" : "tcp", is_tls ? ", renew, forget" : "");
    return false;
}

static bool responder_control_do_set(struct responder *responder, const char *name,
                                     const char *value, FILE *out)
{
    char why[256];
    if (responder_set(&responder->options, name, value, why))
        return true;
    fprintf(out, "error: %s", why);
    return false;
}

static bool do_two(struct responder *responder, char **words, FILE *out)
{
    if (strcmp(words[0], "tcp") == 0 || strcmp(words[0], "tls") == 0)
        return do_streams(responder, words[0][1] == 'l', words[1], out);
    if (strcmp(words[0], "udp") == 0 && parse_switch(words[1], &responder->options.udp))
        return true;
    fputs("error: no such command; try help", out);
    return false;
}

static bool responder_control_do_one(struct responder *responder, const char *word, FILE *out)
{
    if (strcmp(word, "stats") == 0)
        responder_stats_json(responder, out);
    else if (strcmp(word, "connections") == 0)
        responder_connections_json(responder, out);
    else if (strcmp(word, "settings") == 0)
        responder_options_json(&responder->options, out);
    else if (strcmp(word, "help") == 0)
        fputs("set NAME VALUE | tcp on|off|reset|fin|stall|hole|lose|resume | tls the same, or "
              "renew|forget | "
              "udp on|off | stats | reset-stats | connections | settings | quit",
              out);
    else if (strcmp(word, "reset-stats") == 0)
        return responder_stats_reset(responder), true;
    else if (strcmp(word, "quit") == 0)
        return responder->stopping = true;
    else
        fputs("error: no such command; try help", out);
    return false;
}

static void run_line(struct responder *responder, char *line, FILE *out)
{
    char *words[WORDS_MAX];
    int count = words_split(line, words, WORDS_MAX);
    bool ok = false;
    if (count == 3 && strcmp(words[0], "set") == 0)
        ok = responder_control_do_set(responder, words[1], words[2], out);
    else if (count == 2)
        ok = do_two(responder, words, out);
    else if (count == 1)
        ok = responder_control_do_one(responder, words[0], out);
    else
        fputs("error: no such command; try help", out);
    fputs(ok ? "ok\n" : "\n", out);
}

static void write_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n <= 0)
            return; /* a client that does not read its answer loses it */
        bytes += n;
        len -= (size_t)n;
    }
}

static void responder_control_answer_line(struct client *client, char *line)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return;
    run_line(client->control->responder, line, out);
    fclose(out);
    write_all(client->out_fd, text, len);
    free(text);
}

static void responder_control_client_close(struct client *client)
{
    close(client->watch.fd);
    client->watch.fd = -1;
    client->len = 0;
}

static void on_client(struct watch *watch, uint32_t events)
{
    struct client *client = CONTAINER_OF(watch, struct client, watch);
    (void)events;
    if (watch->fd < 0)
        return;
    ssize_t n = read(watch->fd, client->line + client->len, LINE_MAX_BYTES - 1 - client->len);
    if (n <= 0) {
        responder_control_client_close(client);
        return;
    }
    client->len += (size_t)n;
    client->line[client->len] = '\0';
    char *start = client->line, *end;
    while ((end = strchr(start, '\n'))) {
        *end = '\0';
        responder_control_answer_line(client, start);
        start = end + 1;
    }
    client->len = (size_t)(client->line + client->len - start);
    memmove(client->line, start, client->len);
    if (client->len == LINE_MAX_BYTES - 1)
        responder_control_client_close(client);
}

static bool responder_control_client_open(struct control *control, int fd, int out_fd)
{
    for (int i = 0; i < CLIENTS_MAX; i++) {
        struct client *client = &control->clients[i];
        if (client->watch.fd >= 0)
            continue;
        client->control = control;
        client->out_fd = out_fd;
        client->watch = (struct watch){.fd = fd, .on_ready = on_client};
        if (poller_add(control->responder->poller, &client->watch, EPOLLIN) == ERR_OK)
            return true;
        client->watch.fd = -1;
        return false;
    }
    return false;
}

static void on_connect(struct watch *watch, uint32_t events)
{
    struct control *control = CONTAINER_OF(watch, struct control, listener);
    int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC);
    (void)events;
    if (fd >= 0 && !responder_control_client_open(control, fd, fd))
        close(fd);
}

static bool fill_path(struct sockaddr_un *un, const char *path)
{
    memset(un, 0, sizeof(*un));
    un->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof(un->sun_path))
        return false;
    strcpy(un->sun_path, path);
    return true;
}

static enum err listen_at(struct control *control, const char *path)
{
    struct sockaddr_un un;
    if (!fill_path(&un, path))
        return ERR_TOO_LARGE;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_from_errno(errno);
    control->listener = (struct watch){.fd = fd, .on_ready = on_connect};
    unlink(path); /* a responder that was killed has left it */
    if (bind(fd, (struct sockaddr *)&un, sizeof(un)) || listen(fd, CLIENTS_MAX))
        return err_from_errno(errno);
    control->path = strdup(path);
    return poller_add(control->responder->poller, &control->listener, EPOLLIN);
}

enum err responder_control_open(struct responder *responder, const char *path, bool use_stdin)
{
    struct control *control = calloc(1, sizeof(*control));
    if (!control)
        return ERR_NO_MEMORY;
    responder->control = control;
    control->responder = responder;
    control->listener.fd = -1;
    for (int i = 0; i < CLIENTS_MAX; i++)
        control->clients[i].watch.fd = -1;
    if (use_stdin && !responder_control_client_open(control, STDIN_FILENO, STDOUT_FILENO))
        return ERR_INVALID; /* epoll cannot watch a plain file */
    return path ? listen_at(control, path) : ERR_OK;
}

void responder_control_close(struct responder *responder)
{
    struct control *control = responder->control;
    if (!control)
        return;
    for (int i = 0; i < CLIENTS_MAX; i++)
        if (control->clients[i].watch.fd >= 0)
            responder_control_client_close(&control->clients[i]);
    if (control->listener.fd >= 0)
        close(control->listener.fd);
    if (control->path)
        unlink(control->path);
    free(control->path);
    free(control);
    responder->control = NULL;
}

/* Copies a line from the socket to standard output. Returns the exit code. */
static int print_answer(int fd)
{
    FILE *in = fdopen(fd, "r");
    char *line = NULL;
    size_t cap = 0;
    ssize_t len = in ? getline(&line, &cap, in) : -1;
    if (len <= 0)
        fputs("nailup-bench control: the responder closed without an answer\n", stderr);
    else
        fputs(line, stdout);
    int code = len <= 0 || strncmp(line, "error:", 6) == 0;
    free(line);
    if (in)
        fclose(in);
    return code;
}

int control_main(int argc, char **argv)
{
    struct sockaddr_un un;
    char line[LINE_MAX_BYTES] = "";
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return puts("usage: nailup-bench control SOCKET COMMAND [WORD]...\n"
                    "Sends one command to a responder started with --control SOCKET; the command\n"
                    "help lists them. Exit 1: the responder refused, or does not run."),
               0;
    if (argc < 3)
        option_wrong("control", "takes a socket's path and a command");
    for (int i = 2; i < argc; i++) {
        if (strlen(line) + strlen(argv[i]) + 2 > sizeof(line))
            option_wrong("control", "that command is too long");
        strcat(strcat(line, argv[i]), i + 1 < argc ? " " : "\n");
    }
    if (!fill_path(&un, argv[1]))
        option_wrong("control", "that path is too long for a socket");
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&un, sizeof(un))) {
        fprintf(stderr, "nailup-bench control: %s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    write_all(fd, line, strlen(line));
    return print_answer(fd);
}
