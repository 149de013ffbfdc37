/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_SCRIPT_H
#define NAILUP_TESTS_SCENARIO_SCRIPT_H

/*
 * A scenario file after reading: configuration, ranges of canned answers, steps. Playing does not
 * change it. README.md describes the language.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/arena.h"
#include "scenario/entry.h"
#include "scenario/zone.h"

/* The wall clock at the start of a scenario that sets no date: January 2027. */
enum { SCENARIO_WALL_S = 1800000000 };

enum { SCRIPT_ADDRS_MAX = 1024, SCRIPT_NEEDS_MAX = 256, SCRIPT_WORD_MAX = 256 };

struct script_range {
    struct script_range *next; /* the last range of the file comes first, as in Unbound */
    int first, last;
    struct addr addr; /* family 0: any server */
    struct entry *entries;
};

struct script_step {
    struct script_step *next;
    int number, line;
    char verb[32];
    const char *rest; /* what follows the verb on its line */
    struct addr addr; /* of an ADDRESS line or word; family 0: none */
    struct entry *entry;
    char *text; /* the text between RELOAD_BEGIN and RELOAD_END; NULL: none */
};

struct script {
    struct arena arena;
    const char *path;
    const char *title;
    char *config;       /* YAML, or Unbound's options */
    bool is_ours;       /* true: config is YAML */
    int64_t wall_s;     /* the wall clock at the start */
    bool ignores_dates; /* the dates of signatures do not count */
    bool gives_cookies; /* all servers have cookies, which prove the origin of their answers */
    char *hints;        /* the text between HINTS_BEGIN and HINTS_END; NULL: none */
    struct script_range *ranges;
    struct script_zone *zones; /* the last zone of the file comes first */
    struct script_step *steps;
    struct addr addrs[SCRIPT_ADDRS_MAX]; /* addresses that may get queries: from ADDRESS lines and
                                            address records */
    size_t addr_count;
    char needs[SCRIPT_NEEDS_MAX]; /* why the runner cannot play it, or "" */
    char error[256];              /* what is wrong with the file, or "" */
};

/* Reads the file at path. Returns false and sets error. needs: a feature that the runner lacks. The
 * caller must call script_free() in each case. */
bool script_load(struct script *script, const char *path);
void script_free(struct script *script);

/* Notes an address that may get queries. */
void script_add_addr(struct script *script, const struct addr *addr);

/* The resolver may later query the addresses in records, so servers must exist there. */
void script_note_record(struct script *script, uint16_t type, struct span rdata);

#endif
