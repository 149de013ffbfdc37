/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_IMPORT_DRAFT_H
#define NAILUP_IMPORT_DRAFT_H

/*
 * A nailup.yaml under construction: values and items by row of options.def, each with its line in
 * the foreign file, and notes about lines without a counterpart. The loader decides: draft_check()
 * loads the output and removes everything that the loader refuses, with the loader's error as a
 * note. So no rule of the configuration exists twice.
 *
 * The draft owns all text, in a bounded arena. err records that memory or room ran out, and is
 * reported once at the end. One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

enum {
    DRAFT_ARENA_BYTES = 64 * 1024 * 1024,
    DRAFT_ITEM_BYTES =
        720 * 1024, /* for values and items: with the notes, they fit into DRAFT_PRINT_BYTES */
    DRAFT_LOCAL_BYTES = 400 * 1024, /* for local data; counts towards DRAFT_ITEM_BYTES. Large lists
                                       belong in files. */
    DRAFT_NOTE_BYTES = 256 * 1024,
    DRAFT_PRINT_BYTES = 1024 * 1024, /* the bound of the whole output */
    DRAFT_TEXT_MAX = 200,            /* bytes of a foreign line in a note */
    DRAFT_ROUNDS_MAX = 256,          /* rounds of loading and removing */
};

/* A line of the foreign configuration. */
struct draft_origin {
    const char *file;
    uint32_t line;
    uint32_t order;                  /* among all lines of all files */
    const char *text;                /* the statement in one line */
    bool *is_accounted;              /* whether the output mentions it, or nothing depends on it */
    const struct draft_origin *next; /* the option before it, for draft_account_rest() */
};

struct draft_item {
    struct draft_item *next;
    const char *path; /* the row's path: "server.workers", "server.listen" */
    const char *text; /* the value, or one item of a list, as YAML */
    const struct draft_origin *origin;
    struct draft_item *parent;           /* the zone of an upstream or of a key */
    struct draft_item *upstreams, *keys; /* parts of a zone */
    const char *zone;                    /* name of a zone */
    bool is_none;                        /* makes a list empty */
    bool is_dropped;
};

struct draft_note {
    struct draft_note *next;
    const struct draft_origin *origin;
    const char *sentence;
};

struct draft {
    struct arena arena;
    enum err err;                       /* the first error */
    const struct draft_origin *origins; /* of all options; the newest is first */
    struct draft_item *singles;         /* values of keys that are given once */
    struct draft_item *first, **last;   /* items of lists, in order */
    struct draft_note *notes;
    size_t item_bytes, local_bytes, note_bytes;
    size_t note_count;     /* kept */
    size_t notes_left_out; /* notes that do not fit */
    size_t local_left_out; /* lines of local data beyond the bound */
    const struct draft_origin *first_left_out;
    bool has_placeholder; /* the root zone lost its servers and has one that does not answer */
};

void draft_init(struct draft *draft);
void draft_deinit(struct draft *draft);

/* Formats text in the draft's memory. Never NULL: "" when out of memory, which err records. */
const char *draft_format(struct draft *draft, const char *format, ...) PRINTF_LIKE(2, 3);

/* Makes foreign text fit for a comment: one line of printable characters, cut at DRAFT_TEXT_MAX. */
const char *draft_shown(struct draft *draft, struct span text);

/* Writes a value as one word of YAML, quoted if necessary. NULL: it has bytes that no value may
 * have. */
const char *draft_word(struct draft *draft, const char *text);

/* Sets the value of a key that is given once. Notes the value that it replaces. */
void draft_set(struct draft *draft, const char *path, const char *text,
               const struct draft_origin *origin);

/* The current value of such a key, or NULL. */
const char *draft_get(struct draft *draft, const char *path);

/* Appends an item to a list. NULL: no room, which the draft records. */
struct draft_item *draft_add(struct draft *draft, const char *path, const char *text,
                             const struct draft_origin *origin);

/* Like draft_add() for local data, which may be large: items that do not fit are counted and
 * reported. */
void draft_add_local(struct draft *draft, const char *path, const char *text,
                     const struct draft_origin *origin);

/* Refuses the names of a zone, so that their queries do not go to the servers of a larger zone. The
 * zone is a draft_word(). The root cannot be refused. */
void draft_refuse(struct draft *draft, const char *zone, const struct draft_origin *origin);

/* Makes a list empty if it has no items. */
void draft_add_none(struct draft *draft, const char *path, const struct draft_origin *origin);

/* Adds a zone of forward-zones or stub-zones, and its parts: an address, a line such as "cache:
 * no". */
struct draft_item *draft_add_zone(struct draft *draft, const char *path, const char *name,
                                  const struct draft_origin *origin);
void draft_add_upstream(struct draft *draft, struct draft_item *zone, const char *address,
                        const struct draft_origin *origin);
void draft_add_key(struct draft *draft, struct draft_item *zone, const char *line,
                   const struct draft_origin *origin);

/* Adds a note about a line. The sentence lives as long as the draft. */
void draft_note(struct draft *draft, const struct draft_origin *origin, const char *sentence);

/* Accounts for an option that needs no value and no note, such as one that repeats the
 * default. */
void draft_account(const struct draft_origin *origin);

/* Adds the sentence to each option that nothing accounts for, so that none is lost silently. */
void draft_account_rest(struct draft *draft, const char *sentence);

/* Removes the item and notes the reason. */
void draft_drop(struct draft *draft, struct draft_item *item, const char *reason);

/* draft_print.c: prints the draft as YAML. If lines is not NULL, lines->items[n] is the item of
 * line n + 1 or NULL, and lines->keys[n] the path of a key whose items follow, for at most
 * lines->max lines. ERR_LIMIT: out is full. */
struct draft_lines {
    struct draft_item **items;
    const char **keys;
    size_t count, max;
};
MUST_USE enum err draft_print(struct draft *draft, const char *head, struct draft_lines *lines,
                              struct buf *out);

/* draft_check.c: removes what the loader refuses, and makes sure that a zone without servers does
 * not get others. Without with_files it reads no file that the draft names. Any result other than
 * ERR_OK: the draft cannot be made to load. */
MUST_USE enum err draft_check(struct draft *draft, bool with_files);

#endif
