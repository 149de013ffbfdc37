/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads the session file at the start and writes it at the end. tls/tls_tickets.c knows its format.
 */

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
            "session-file %s holds no TLS sessions: nailupd neither reads nor overwrites it; name "
            "another file, or remove this one",
            path);
        return;
    }
    enum err err = tls_tickets_load(tickets, path, time(NULL), &count);

    if (err == ERR_NOT_FOUND)
        return;
    if (err) {
        LOG(LOG_WARNING, "daemon",
            "session-file %s is not used, so the first handshakes are full ones: %s%s", path,
            err_str(err),
            err == ERR_PERMISSION ? "; it must belong to this user and have mode 0600" : "");
        return;
    }
    LOG(LOG_INFO, "daemon", "%zu TLS sessions read from %s", count, path);
    if (unlink(path) != 0)
        LOG(LOG_WARNING, "daemon", "cannot remove session-file %s: its sessions may be used twice",
            path);
}

/* Writes a trial file at the start, so that the operator learns of a problem before the end. Skips
 * this if the file is still there: a warning about it has been logged. */
static void sessions_try_out(struct tls_tickets *tickets, const char *path)
{
    struct stat status;

    if (lstat(path, &status) == 0)
        return;
    enum err err = tls_tickets_save(tickets, path, time(NULL));
    if (err)
        LOG(LOG_WARNING, "daemon",
            "cannot write session-file %s, so a restart will begin with full handshakes: %s", path,
            err_str(err));
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
        if (err && err != ERR_FOREIGN) /* logged at the start */
            LOG(LOG_WARNING, "daemon", "cannot save TLS sessions to session-file %s: %s", path,
                err_str(err));
    }
    tls_tickets_free(tickets);
}
