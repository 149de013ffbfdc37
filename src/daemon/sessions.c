/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads the session file at the start and writes it at the end; what stands in it is
 * tls/tls_tickets.c's. */

#include "daemon/sessions.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "tls/tls_tickets.h"

static bool sessions_is_wanted(const char *path)
{
    return path && *path;
}

static void sessions_load(struct tls_tickets *tickets, const char *path)
{
    size_t count = 0;

    if (tls_tickets_is_foreign(path)) {
        LOG(LOG_WARNING, "daemon",
            "session-file %s is no file of TLS sessions: it is neither read nor written over; name "
            "another file, or take this one away",
            path);
        return;
    }
    enum err err = tls_tickets_load(tickets, path, time(NULL), &count);

    if (err == ERR_NOT_FOUND)
        return;
    if (err) {
        LOG(LOG_WARNING, "daemon",
            "session-file %s is not used, and the first handshakes are full ones: %s%s", path,
            err_str(err),
            err == ERR_PERMISSION ? "; it must be a file of this user's with mode 0600" : "");
        return;
    }
    LOG(LOG_INFO, "daemon", "%zu TLS sessions read from %s", count, path);
    if (unlink(path) != 0)
        LOG(LOG_WARNING, "daemon",
            "session-file %s cannot be removed: its sessions may be used twice", path);
}

/* That nothing can be written there is better known before the end. What lies there still was
 * spoken of. */
static void sessions_try_out(struct tls_tickets *tickets, const char *path)
{
    struct stat status;

    if (lstat(path, &status) == 0)
        return;
    enum err err = tls_tickets_save(tickets, path, time(NULL));
    if (err)
        LOG(LOG_WARNING, "daemon",
            "session-file %s cannot be written, so a restart will begin with full handshakes: %s",
            path, err_str(err));
    else
        (void)unlink(path);
}

struct tls_tickets *sessions_open(const char *path)
{
    struct tls_tickets *tickets = tls_tickets_new();

    if (tickets && sessions_is_wanted(path)) {
        sessions_load(tickets, path);
        sessions_try_out(tickets, path);
    }
    return tickets;
}

void sessions_close(struct tls_tickets *tickets, const char *path)
{
    if (!tickets)
        return;
    if (sessions_is_wanted(path)) {
        enum err err = tls_tickets_save(tickets, path, time(NULL));
        if (err && err != ERR_FOREIGN) /* said at the start */
            LOG(LOG_WARNING, "daemon", "TLS sessions cannot be saved to session-file %s: %s", path,
                err_str(err));
    }
    tls_tickets_free(tickets);
}
