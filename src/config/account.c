/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Names of users and groups. A word of digits is a number, as in chown(1) when no such name exists;
 * names that consist of digits are not looked up.
 */
#include "config/account.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

/* ---- how they look ---- */

/* Moves *text past the word. False if the word cannot be a name or number. */
static bool skip_word(const char **text)
{
    size_t len = strcspn(*text, ":");
    bool fits = len > 0 && len <= ACCOUNT_WORD_MAX && **text != '-';

    for (size_t i = 0; i < len; i++)
        if ((unsigned char)(*text)[i] <= ' ' || (*text)[i] == 0x7f || (*text)[i] == '/')
            fits = false;
    *text += len;
    return fits;
}

bool account_is_sound(const char *text, bool may_have_group)
{
    if (*text == '\0')
        return true;
    if (!skip_word(&text))
        return false;
    if (may_have_group && *text == ':') {
        text++;
        if (!skip_word(&text))
            return false;
    }
    return *text == '\0';
}

/* A decimal number read as octal would open files to other users, so four digits must start with 0.
 */
bool account_parse_mode(const char *text, uint16_t *out)
{
    size_t len = strlen(text);
    unsigned mode = 0;

    if (len < 3 || len > 4 || strspn(text, "01234567") != len || (len == 4 && *text != '0'))
        return false;
    for (; *text; text++)
        mode = mode * 8 + (unsigned)(*text - '0');
    *out = (uint16_t)mode;
    return true;
}

/* ---- looking up users and groups ---- */

/* (uid_t)-1 means no user to the kernel. */
static bool parse_id(const char *word, uint32_t *id)
{
    uint64_t value = 0;

    for (; *word >= '0' && *word <= '9' && value < UINT32_MAX; word++)
        value = value * 10 + (uint64_t)(*word - '0');
    *id = (uint32_t)value;
    return *word == '\0' && value < UINT32_MAX;
}

bool account_find_user(const char *word, struct account_user *out)
{
    bool is_number = parse_id(word, &out->uid);
    const struct passwd *entry = is_number ? getpwuid(out->uid) : getpwnam(word);

    out->gid = UINT32_MAX;
    out->name[0] = '\0';
    out->has_entry = entry != NULL;
    if (!entry)
        return is_number;
    out->uid = entry->pw_uid;
    out->gid = entry->pw_gid;
    snprintf(out->name, sizeof(out->name), "%s", entry->pw_name);
    return true;
}

bool account_find_group(const char *word, uint32_t *gid)
{
    if (parse_id(word, gid))
        return true;
    const struct group *entry = getgrnam(word);
    if (entry)
        *gid = entry->gr_gid;
    return entry;
}
