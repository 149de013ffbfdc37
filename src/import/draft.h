/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_IMPORT_DRAFT_H
#define NAILUP_IMPORT_DRAFT_H

/*
 * A nailup.yaml in the making: values and items by their rows of options.def, each with the line of
 * the foreign file that it comes from, and notes about lines that became nothing. The loader has
 * the last word: draft_check() loads what would be printed and takes out what it refuses, with its
 * words as a note. So no rule of the configuration is written down twice.
 *
 * All text is the draft's, in an arena with a bound. Running out of memory or room is remembered in
 * err and told once, at the end. One thread.
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
    DRAFT_ITEM_BYTES = 720 * 1024, /* of values and items: with notes they fit CONFIG_FILE_MAX */
    DRAFT_LOCAL_BYTES =
        400 * 1024, /* of these, of names answered here: large lists are for files */
    DRAFT_NOTE_BYTES = 256 * 1024,
    DRAFT_TEXT_MAX = 200,   /* of a foreign line, as notes show it */
    DRAFT_ROUNDS_MAX = 256, /* of loading and taking out */
};

/* A line of the foreign configuration. */
struct draft_origin {
    const char *file;
    uint32_t line;
    uint32_t order;   /* among all lines of all files */
    const char *text; /* the statement in one line */
};

struct draft_item {
    struct draft_item *next;
    const char *path; /* of its row: "server.workers", "server.listen" */
    const char *text; /* the value, or one item of a list, as YAML */
    const struct draft_origin *origin;
    struct draft_item *parent;           /* of an upstream or a key of a zone: the zone */
    struct draft_item *upstreams, *keys; /* of a zone */
    const char *zone;                    /* of a zone: its name as text */
    bool is_none;                        /* of a list: it shall be empty */
    bool is_dropped;
};

struct draft_note {
    struct draft_note *next;
    const struct draft_origin *origin;
    const char *sentence;
};

struct draft {
    struct arena arena;
    enum err err;                     /* the first */
    struct draft_item *singles;       /* values of keys that stand once */
    struct draft_item *first, **last; /* items of lists, in order */
    struct draft_note *notes;
    size_t item_bytes, local_bytes, note_bytes;
    size_t note_count;     /* kept */
    size_t notes_left_out; /* too many to show */
    size_t local_left_out; /* names answered here, too many for a file */
    const struct draft_origin *first_left_out;
    bool has_placeholder; /* the root, which had servers, has one that does not answer */
};

void draft_init(struct draft *draft);
void draft_deinit(struct draft *draft);

/* Text in the draft's memory; never NULL: "" once memory is out, which err says. */
const char *draft_format(struct draft *draft, const char *format, ...) PRINTF_LIKE(2, 3);

/* Foreign text, fit for a comment: in one line, of printable characters, cut at DRAFT_TEXT_MAX. */
const char *draft_shown(struct draft *draft, struct span text);

/* A value as one word of YAML, quoted where it must be. NULL: it has bytes that no value has. */
const char *draft_word(struct draft *draft, const char *text);

/* A value of a key that stands once. A value that was there before is replaced and noted. */
void draft_set(struct draft *draft, const char *path, const char *text,
               const struct draft_origin *origin);

/* The value in use of a key that stands once; NULL: none. */
const char *draft_get(struct draft *draft, const char *path);

/* An item of a list, behind those that are there. NULL: no room, and the draft knows. */
struct draft_item *draft_add(struct draft *draft, const char *path, const char *text,
                             const struct draft_origin *origin);

/* As draft_add(), of names answered here. These are bulk goods: what does not fit is counted and
 * told. */
void draft_add_local(struct draft *draft, const char *path, const char *text,
                     const struct draft_origin *origin);

/* Has the names of a zone refused, so that they do not wander to the servers of a larger one. The
 * zone is a draft_word(); the root is none. */
void draft_refuse(struct draft *draft, const char *zone, const struct draft_origin *origin);

/* A list that shall be empty, if nothing is in it. */
void draft_add_none(struct draft *draft, const char *path, const struct draft_origin *origin);

/* A zone of forward-zones or stub-zones, and what belongs to it: an address, a line such as
 * "cache: no". */
struct draft_item *draft_add_zone(struct draft *draft, const char *path, const char *name,
                                  const struct draft_origin *origin);
void draft_add_upstream(struct draft *draft, struct draft_item *zone, const char *address,
                        const struct draft_origin *origin);
void draft_add_key(struct draft *draft, struct draft_item *zone, const char *line,
                   const struct draft_origin *origin);

/* What is to be known about a line; the sentence lives as long as the draft. */
void draft_note(struct draft *draft, const struct draft_origin *origin, const char *sentence);

/* Takes the item out, for the reason. */
void draft_drop(struct draft *draft, struct draft_item *item, const char *reason);

/* draft_print.c: the whole as YAML. Where lines is not NULL, lines[n] is the item of line n + 1 or
 * NULL, for line_count lines at most; keys[n] the path of a key whose items follow. ERR_LIMIT: more
 * than out may hold. */
struct draft_lines {
    struct draft_item **items;
    const char **keys;
    size_t count, max;
};
MUST_USE enum err draft_print(struct draft *draft, const char *head, struct draft_lines *lines,
                              struct buf *out);

/* draft_check.c: takes out what the loader refuses, and sees that who loses servers gets no others.
 * Without with_files no file that the draft names is looked at. Not ERR_OK: it cannot be made to
 * load. */
MUST_USE enum err draft_check(struct draft *draft, bool with_files);

#endif
