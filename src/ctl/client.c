/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Connects, writes a line, and reads until the daemon closes. answer.c parses the reply. */

#include "ctl/client.h"

#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "ctl/stream.h"
#include "nailup/control.h"

static enum err client_fail(char *why, size_t size, const char *path, const char *advice)
{
    int number = errno;

    snprintf(why, size, "%s: %s; %s", path,
             number == EAGAIN ? "no answer in time" : strerror(number), advice);
    return number == EAGAIN ? ERR_TIMED_OUT : err_from_errno(number);
}

/* Every user who may open the file may run commands, so the error names these users. */
static enum err client_fail_permission(char *why, size_t size, const char *path)
{
    struct stat file;
    const struct group *group;

    if (stat(path, &file) != 0)
        snprintf(why, size,
                 "%s: permission denied; you may not enter the directory: run nailupctl as root",
                 path);
    else if (!(file.st_mode & S_IWGRP))
        snprintf(why, size,
                 "%s: permission denied; only its owner, user %u, may run commands: run nailupctl "
                 "as root",
                 path, (unsigned)file.st_uid);
    else if ((group = getgrgid(file.st_gid)))
        snprintf(why, size,
                 "%s: permission denied; root and members of the group %s may run commands "
                 "(usermod -aG %s USER, then "
                 "log in again)",
                 path, group->gr_name, group->gr_name);
    else
        snprintf(why, size,
                 "%s: permission denied; root and members of the group %u may run commands", path,
                 (unsigned)file.st_gid);
    return ERR_PERMISSION;
}

/* Block lists of millions of names and silent servers both take their time. */
static time_t client_wait_s(const char *verb)
{
    if (strcmp(verb, "trace") == 0)
        return CLIENT_WAIT_TRACE_S;
    return strcmp(verb, "reload") == 0 ? CLIENT_WAIT_RELOAD_S : CLIENT_WAIT_S;
}

static int client_open_socket(const char *path, const char *verb)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval wait = {.tv_sec = client_wait_s(verb)};
    int fd;

    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    int number = errno;
    close(fd);
    errno = number;
    return -1;
}

static bool client_send_words(int fd, int count, char *const words[])
{
    char line[CONTROL_REQUEST_MAX];
    size_t len = 0;

    for (int i = 0; i < count; i++) {
        size_t word = strlen(words[i]);
        if (len + word + 1 > sizeof(line)) {
            errno = E2BIG;
            return false;
        }
        memcpy(line + len, words[i], word);
        len += word;
        line[len++] = i + 1 < count ? '\t' : '\n';
    }
    return send(fd, line, len, MSG_NOSIGNAL) == (ssize_t)len;
}

/* Sends the standard input after the request. The daemon may close before its end; then it has said
 * why. */
static bool client_send_input(int fd, FILE *in)
{
    char piece[16 * 1024];
    size_t len;

    while ((len = fread(piece, 1, sizeof(piece), in)) > 0) {
        for (size_t done = 0; done < len;) {
            ssize_t sent = send(fd, piece + done, len - done, MSG_NOSIGNAL);
            if (sent < 0 && errno == EINTR)
                continue;
            if (sent < 0)
                return errno == EPIPE;
            done += (size_t)sent;
        }
    }
    return shutdown(fd, SHUT_WR) == 0;
}

/* Whether a signal interrupted the call without asking to stop. */
static bool client_may_retry(const struct client_streams *streams)
{
    return errno == EINTR && !(streams->stop && *streams->stop);
}

/* Receives the rest of a text; len bytes of it have come. */
static bool client_receive_text(int fd, const char *first, size_t len,
                                const struct client_streams *streams)
{
    static const size_t begin = sizeof(STREAM_BEGIN) - 1;
    char piece[16 * 1024];
    struct stream stream;
    ssize_t got = 0;

    if (stream_begin(&stream, streams->out, streams->json))
        return false;
    bool fits = stream_take(&stream, first + begin, len - begin);
    while (fits && ((got = recv(fd, piece, sizeof(piece), 0)) > 0 ||
                    (got < 0 && client_may_retry(streams))))
        fits = got < 0 || stream_take(&stream, piece, (size_t)got);
    bool is_whole = stream_end(&stream);
    if (got == 0 || !fits)
        errno = EPROTO;
    return is_whole && fits;
}

static bool client_is_text(const char *text, size_t len)
{
    return len >= sizeof(STREAM_BEGIN) - 1 &&
           memcmp(text, STREAM_BEGIN, sizeof(STREAM_BEGIN) - 1) == 0;
}

/* Receives the reply, with room for one more byte. On error false and errno. */
static bool client_receive(int fd, const struct client_streams *streams, char **out, size_t *len)
{
    size_t room = 64 * 1024;
    char *text = malloc(room);

    *len = 0;
    *out = NULL;
    while (text) {
        ssize_t got = recv(fd, text + *len, room - *len - 1, 0);
        if (got == 0) {
            *out = text;
            return true;
        }
        if (got < 0 && client_may_retry(streams))
            continue;
        if (got < 0 || *len > CONTROL_REPLY_MAX)
            break;
        *len += (size_t)got;
        if (client_is_text(text, *len)) {
            bool is_whole = client_receive_text(fd, text, *len, streams);
            free(text);
            return is_whole;
        }
        if (room - *len < 2) {
            char *larger = realloc(text, room *= 2);
            if (!larger)
                break;
            text = larger;
        }
    }
    free(text);
    return false;
}

enum err client_ask(const char *path, int count, char *const words[],
                    const struct client_streams *streams, char **text, size_t *len, char *why,
                    size_t why_size)
{
    enum err err = ERR_OK;
    int fd = client_open_socket(path, words[0]);

    if (fd < 0 && errno == EACCES)
        return client_fail_permission(why, why_size, path);
    if (fd < 0)
        return client_fail(why, why_size, path,
                           "is nailupd running, and is this its control.socket?");
    if (!client_send_words(fd, count, words))
        err = client_fail(why, why_size, path, "cannot send the request");
    else if (strcmp(words[0], CONTROL_FED) == 0 && !client_send_input(fd, streams->in))
        err = client_fail(why, why_size, path, "cannot send the input");
    else if (!client_receive(fd, streams, text, len))
        err = client_fail(why, why_size, path, "the daemon did not answer, or not completely");
    close(fd);
    return err;
}
