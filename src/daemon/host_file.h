/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_HOST_FILE_H
#define NAILUP_DAEMON_HOST_FILE_H

/*
 * The addresses of upstreams by host name as text, for upstream.host-file:
 *
 *   nailup hosts 1
 *   dns.example 1795478400 192.0.2.1 2001:db8::1
 *   end
 *
 * The number is the time of the name's last answer with an address, in seconds since 1970. A file
 * without the last line is truncated. Pure.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"
#include "config/config.h"
#include "config/zone_hosts.h"

/* Each version of the file begins with this text. */
#define HOST_FILE_KIND "nailup hosts "

enum {
    HOST_FILE_LINE_MAX = 1280, /* a name, a number and ZONE_HOST_ADDRS_MAX addresses fit */
    HOST_FILE_BYTES_MAX = (CONFIG_HOSTS_MAX + 2) * HOST_FILE_LINE_MAX,
};

struct host_saved {
    char name[ADDR_NAME_MAX];
    int64_t answered_s;                     /* wall clock */
    size_t count;                           /* 1 at least in a file */
    struct addr addrs[ZONE_HOST_ADDRS_MAX]; /* port 0; two may be equal */
};

struct host_file {
    size_t count;
    struct host_saved list[CONFIG_HOSTS_MAX];
};

/* Returns the entry of this name, or NULL. */
const struct host_saved *host_file_find(const struct host_file *file, const char *name);

/* Reads the text. ERR_INVALID: the text is truncated, changed, or of another version; then out is
 * empty. */
MUST_USE enum err host_file_read(struct host_file *out, struct span text);

/* Appends the text. ERR_LIMIT, ERR_NO_MEMORY. */
MUST_USE enum err host_file_write(struct buf *out, const struct host_file *file);

#endif
