/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_ACCOUNT_H
#define NAILUP_CONFIG_ACCOUNT_H

/* Users, groups and modes of files as words, and whom the system knows by them. */

#include <stdbool.h>
#include <stdint.h>

enum { ACCOUNT_WORD_MAX = 64 }; /* bytes of a user's or group's name */

/* Whether the text is "", a name or number, or with a group two of them with a colon between. */
bool account_is_sound(const char *text, bool may_have_group);

/* Three or four octal digits, permissions alone. */
bool account_parse_mode(const char *text, uint16_t *mode);

/* What the system says of a user. */
struct account_user {
    uint32_t uid, gid;
    bool has_entry;                  /* else only a number is known, and gid says nothing */
    char name[ACCOUNT_WORD_MAX + 1]; /* "" without an entry */
};

/* By name or number; a number needs no entry. False: nobody. One thread at a time; may wait for a
 * directory service. */
bool account_find_user(const char *word, struct account_user *out);
bool account_find_group(const char *word, uint32_t *gid);

#endif
