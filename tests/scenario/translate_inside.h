/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_TRANSLATE_INSIDE_H
#define NAILUP_TESTS_SCENARIO_TRANSLATE_INSIDE_H

/* Shared by the parts of the translator: translate.c reads; translate_server.c and translate_zone.c
 * write nailup's sections. */

#include <stdbool.h>

#include "base/buf.h"
#include "scenario/translate.h"
#include "scenario/translate_tables.h"

enum { WORD_MAX = 1024, OPTION_MAX = 64 };

/* RSA with SHA-1. Nailup does not know the algorithms with smaller numbers. */
enum { OLDEST_ALGORITHM = 5 };

enum zone_kind { FORWARD_ZONES, STUB_ZONES, AUTH_ZONES, RPZ_ZONES, ZONE_KINDS };

/* Collects zones of one kind. */
struct zones {
    const char *section; /* the name in Unbound's file; with an s, the name in nailup's */
    const char *prefix;
    struct buf text;
    bool open, has_addrs;
    bool is_root; /* the stub zone ".", which is another way to give root hints to Unbound */
    bool no_clients, no_upstream, checks_zonemd, requires_zonemd; /* the options of an auth-zone */
    size_t begins_at; /* where the text of this auth-zone begins */
};

struct translating {
    struct buf section[SECTIONS];
    struct buf lists[LISTS];
    struct buf access;
    struct buf hints, files; /* root hints, and the contents of files, unchanged */
    struct zones zones[ZONE_KINDS];
    struct zones *zone; /* the next options belong to this zone; NULL: to none */
    bool elsewhere;     /* the section has no counterpart */
    bool has_loopback4, has_loopback6, has_caps, has_hints_file;
    bool serves_stale;
    bool has_negative_bound; /* false: Unbound's default applies */
    bool ignores_zonemd;
    bool has_old_anchor; /* at least one anchor has an algorithm that nailup does not know */
    bool has_root_anchor;
    bool is_not_aggressive;   /* spans answer for no other name */
    struct buf anchors;       /* records in quotes */
    struct buf insecure;      /* names in quotes, each with a comma */
    unsigned long stale_s;    /* 0: no bound */
    char waiting[OPTION_MAX]; /* an option whose value is on a separate line */
    struct translation *out;
};

void PRINTF_LIKE(2, 3) translate_put(struct buf *buf, const char *format, ...);

/* Notes an option that we lack. */
void translate_need(struct translating *work, const char *option);

/* Returns whether nailup's configuration can have this, as a whole or as a line of a section. */
bool translate_is_offered(const char *text);

/* Translates an option of section "server", given as its first two words and its whole line. */
void translate_server(struct translating *work, const char *key, const char *value,
                      const char *second, const char *line);

/* Writes the resulting sections. */
void translate_server_finish(struct translating *work, struct buf *yaml);

/* Translates forward-zone, stub-zone, auth-zone and rpz. May change value. */
void translate_zone(struct translating *work, const char *key, char *value);
void translate_zone_end(struct translating *work);
/* returns false if the file has no zone */
bool translate_zones_finish(struct translating *work, struct buf *yaml);

#endif
