/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* zone_file reads the text, zone_builder makes the version; the sentences for the operator are made
 * here. */
#include "daemon/zone_from_file.h"

#include <stdio.h>
#include <sys/stat.h>

#include "config/local_file.h"
#include "config/problems.h"
#include "zone/zone_builder.h"
#include "zone/zone_data.h"
#include "zone/zone_file.h"

_Static_assert((int)ZONE_FROM_FILE_WHY_MAX >= (int)LOCAL_FILE_WHY_MAX,
               "local_file writes its sentence into it");

bool zone_from_file_stamp(const char *path, struct zone_file_stamp *out)
{
    struct stat status;

    if (stat(path, &status) != 0)
        return false;
    *out = (struct zone_file_stamp){.seconds = status.st_mtim.tv_sec,
                                    .nanoseconds = status.st_mtim.tv_nsec,
                                    .size_bytes = (uint64_t)status.st_size,
                                    .inode = status.st_ino};
    return true;
}

bool zone_from_file_is_same(const struct zone_file_stamp *a, const struct zone_file_stamp *b)
{
    return a->seconds == b->seconds && a->nanoseconds == b->nanoseconds &&
           a->size_bytes == b->size_bytes && a->inode == b->inode;
}

/* The operator wrote the file, but its words go to a log line. */
static void write_fault(const char *path, enum err err, const struct zone_file_fault *fault,
                        char why[ZONE_FROM_FILE_WHY_MAX])
{
    char quoted[PROBLEM_QUOTE_MAX];

    if (!fault->sentence)
        snprintf(why, ZONE_FROM_FILE_WHY_MAX, "%.400s: %s", path, err_str(err));
    else if (fault->word.len > 0)
        snprintf(why, ZONE_FROM_FILE_WHY_MAX, "%.400s:%zu: \"%s\" %s", path, fault->line,
                 problem_quote((const char *)fault->word.data, fault->word.len, quoted),
                 fault->sentence);
    else
        snprintf(why, ZONE_FROM_FILE_WHY_MAX, "%.400s:%zu: %s", path, fault->line, fault->sentence);
}

static const char *finish_sentence(enum err err)
{
    switch (err) {
    case ERR_INVALID:
        return "the zone needs exactly one SOA record at its origin";
    case ERR_LIMIT:
        return "the zone exceeds max-size, or an RRset has more than 65535 records";
    default:
        return err_str(err);
    }
}

/* Returns NULL, or the fault that the digest shows: static text. */
static const char *digest_fault(const struct zone_data *data, enum zonemd_mode zonemd)
{
    switch (zonemd_check(data)) {
    case ZONEMD_MATCHES:
        return NULL;
    case ZONEMD_DIFFERS:
        return "the zone does not match the digest of its ZONEMD record";
    case ZONEMD_UNKNOWN:
        return zonemd == ZONEMD_REQUIRE
                   ? "the zone has no ZONEMD record of a known scheme and algorithm"
                   : NULL;
    case ZONEMD_ABSENT:
        return zonemd == ZONEMD_REQUIRE ? "the zone has no ZONEMD record" : NULL;
    case ZONEMD_NO_MEMORY:
        break;
    }
    return err_str(ERR_NO_MEMORY);
}

bool zone_from_file_check(const struct zone_data *data, const struct zone_checks *checks,
                          char why[APEX_WHY_MAX])
{
    if (checks->zonemd == ZONEMD_IGNORE)
        return true;
    switch (checks->apex ? apex_check(data, checks->apex, why) : APEX_UNANCHORED) {
    case APEX_UNANCHORED:
    case APEX_SECURE:
        break;
    case APEX_BOGUS:
        return false;
    case APEX_NO_MEMORY:
        snprintf(why, APEX_WHY_MAX, "%s", err_str(ERR_NO_MEMORY));
        return false;
    }
    const char *fault = digest_fault(data, checks->zonemd);
    if (fault)
        snprintf(why, APEX_WHY_MAX, "%s", fault);
    return !fault;
}

static enum err read_zone_file(const char *path, struct name origin, size_t max_bytes,
                               struct zone_data **data, char why[ZONE_FROM_FILE_WHY_MAX])
{
    struct zone_file_fault fault = {0};
    struct span text;

    *data = NULL;
    enum err err = local_file_read(path, &text, why);
    if (err != ERR_OK)
        return err;
    struct zone_builder *builder = zone_builder_new(origin, max_bytes);
    err = builder ? zone_file_read(builder, text, &fault) : ERR_NO_MEMORY;
    if (err != ERR_OK)
        write_fault(path, err, &fault, why);
    local_file_free(text);
    if (err != ERR_OK) {
        zone_builder_free(builder);
        return err;
    }
    err = zone_builder_finish(&builder, data);
    if (err != ERR_OK)
        snprintf(why, ZONE_FROM_FILE_WHY_MAX, "%.400s: %s", path, finish_sentence(err));
    return err;
}

enum err zone_from_file(const char *path, struct name origin, size_t max_bytes,
                        const struct zone_checks *checks, struct zone_data **data,
                        char why[ZONE_FROM_FILE_WHY_MAX])
{
    char fault[APEX_WHY_MAX];
    enum err err = read_zone_file(path, origin, max_bytes, data, why);

    if (err != ERR_OK || zone_from_file_check(*data, checks, fault))
        return err;
    snprintf(why, ZONE_FROM_FILE_WHY_MAX, "%.400s: %s", path, fault);
    zone_data_unref(*data);
    *data = NULL;
    return ERR_INVALID;
}
