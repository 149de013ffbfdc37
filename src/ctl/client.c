/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Connects, writes a line, reads until the daemon closes. What the reply says is answer.c's. */

#include "ctl/client.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "nailup/control.h"

static enum err fail(char *why, size_t size, const char *path, const char *advice)
{
    int number = errno;

    snprintf(why, size, "%s: %s; %s", path,
             number == EAGAIN ? "no answer in time" : strerror(number), advice);
    return number == EAGAIN ? ERR_TIMED_OUT : err_from_errno(number);
}

static int open_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval wait = {.tv_sec = CLIENT_WAIT_S};
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

static bool send_words(int fd, int count, char *const words[])
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

/* The reply with room for one more byte; NULL and errno. */
static char *receive(int fd, size_t *len)
{
    size_t room = 64 * 1024;
    char *text = malloc(room);

    *len = 0;
    while (text) {
        ssize_t got = recv(fd, text + *len, room - *len - 1, 0);
        if (got == 0)
            return text;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || *len > CONTROL_REPLY_MAX)
            break;
        *len += (size_t)got;
        if (room - *len < 2) {
            char *larger = realloc(text, room *= 2);
            if (!larger)
                break;
            text = larger;
        }
    }
    free(text);
    return NULL;
}

enum err client_ask(const char *path, int count, char *const words[], char **text, size_t *len,
                    char *why, size_t why_size)
{
    enum err err = ERR_OK;
    int fd = open_socket(path);

    if (fd < 0)
        return fail(why, why_size, path, "is nailupd running, and is this its control.socket?");
    if (!send_words(fd, count, words))
        err = fail(why, why_size, path, "the request could not be sent");
    else if (!(*text = receive(fd, len)))
        err = fail(why, why_size, path, "the daemon did not answer");
    close(fd);
    return err;
}
