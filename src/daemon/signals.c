/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * A signalfd: no code runs in a signal handler, and only main sees signals.
 */

#include "daemon/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/check.h"
#include "loop/fd_watch.h"

struct signals {
    int fd;
    struct fd_watch *watch;
    void (*on_signal)(void *context, int number);
    void *context;
};

static void signals_fill_set(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGHUP);
}

void signals_block_reload(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    MUST(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
}

void signals_block(void)
{
    sigset_t set;

    signals_fill_set(&set);
    MUST(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    MUST(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
}

/* Reads one signal at a time, because the callee may close us. The watch is level-triggered, so the
 * next one comes in the next turn. */
static void signals_on_readable(void *owner, struct fd_events events)
{
    struct signals *signals = owner;
    struct signalfd_siginfo info;

    (void)events;
    if (read(signals->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
        signals->on_signal(signals->context, (int)info.ssi_signo);
}

enum err signals_open(struct signals **out, struct loop *loop,
                      void (*on_signal)(void *context, int number), void *context)
{
    struct signals *signals = calloc(1, sizeof(*signals));
    sigset_t set;

    if (!signals)
        return ERR_NO_MEMORY;
    signals_fill_set(&set);
    signals->on_signal = on_signal;
    signals->context = context;
    signals->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    enum err err = signals->fd < 0 ? err_from_errno(errno)
                                   : fd_watch_start(&signals->watch, loop, signals->fd,
                                                    (struct fd_events){.readable = true},
                                                    signals_on_readable, signals);
    if (err) {
        signals_close(&signals);
        return err;
    }
    *out = signals;
    return ERR_OK;
}

void signals_close(struct signals **signals)
{
    if (!*signals)
        return;
    fd_watch_stop(&(*signals)->watch);
    if ((*signals)->fd >= 0)
        close((*signals)->fd);
    free(*signals);
    *signals = NULL;
}
