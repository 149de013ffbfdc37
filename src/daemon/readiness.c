/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The only user of libsystemd. Messages go to a socket that never blocks. The service manager has
 * to cope with a lost message.
 */

#include "daemon/readiness.h"

#ifdef NAILUP_HAVE_SYSTEMD

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <time.h>

enum { STATUS_MAX = 256 };

bool readiness_is_built(void)
{
    return true;
}

bool readiness_is_wanted(void)
{
    return getenv("NOTIFY_SOCKET") != NULL;
}

void readiness_ready(void)
{
    (void)sd_notify(0, "READY=1");
}

/* Type=notify-reload needs the time to tell this reload from an earlier one. */
void readiness_reloading(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    (void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu",
                     (unsigned long long)now.tv_sec * 1000000 +
                         (unsigned long long)now.tv_nsec / 1000);
}

void readiness_stopping(void)
{
    (void)sd_notify(0, "STOPPING=1");
}

void readiness_status(const char *format, ...)
{
    char text[STATUS_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    (void)sd_notifyf(0, "STATUS=%s", text);
}

uint64_t readiness_watchdog_us(void)
{
    uint64_t interval_us;

    return sd_watchdog_enabled(0, &interval_us) > 0 ? interval_us : 0;
}

void readiness_ping(void)
{
    (void)sd_notify(0, "WATCHDOG=1");
}

size_t readiness_take_sockets(int *fds, size_t room)
{
    int count = sd_listen_fds(1);

    for (size_t i = 0; count > 0 && i < (size_t)count && i < room; i++)
        fds[i] = SD_LISTEN_FDS_START + (int)i;
    return count > 0 ? (size_t)count : 0;
}

#else

bool readiness_is_built(void)
{
    return false;
}

bool readiness_is_wanted(void)
{
    return false;
}

void readiness_ready(void)
{
}

void readiness_reloading(void)
{
}

void readiness_stopping(void)
{
}

void readiness_status(const char *format, ...)
{
    (void)format;
}

uint64_t readiness_watchdog_us(void)
{
    return 0;
}

void readiness_ping(void)
{
}

size_t readiness_take_sockets(int *fds, size_t room)
{
    (void)fds;
    (void)room;
    return 0;
}

#endif
