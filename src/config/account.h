/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_ACCOUNT_H
#define NAILUP_CONFIG_ACCOUNT_H

/* Users, groups and file modes as text, and the accounts of the system. */

#include <stdbool.h>
#include <stdint.h>

enum { ACCOUNT_WORD_MAX = 64 }; /* bytes of a user's or group's name */

/* Whether the text is "", a name or a number, or, if may_have_group, two of them separated by a
 * colon. */
bool account_is_sound(const char *text, bool may_have_group);

/* Reads three or four octal digits of permission bits. */
bool account_parse_mode(const char *text, uint16_t *mode);

/* A user of the system. */
struct account_user {
    uint32_t uid, gid;
    bool has_entry;                  /* false: only the number is known, and gid is undefined */
    char name[ACCOUNT_WORD_MAX + 1]; /* "" without an entry */
};

/* Finds a user or group by name or number; a number needs no entry in the system. False if there is
 * none. One thread at a time; may wait for a directory service. */
bool account_find_user(const char *word, struct account_user *out);
bool account_find_group(const char *word, uint32_t *gid);

#endif
