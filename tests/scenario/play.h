/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_PLAY_H
#define NAILUP_TESTS_SCENARIO_PLAY_H

/* Plays the steps of a script, in a world made for that. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scenario/world.h"

enum { PLAY_WHY_MAX = 64 * 1024 };

struct play {
    struct world world;
    const struct script *script;
    const struct script_step *step;
    bool verbose;
    uint64_t seed;   /* seeds all random numbers */
    bool lacks_verb; /* the script has an unknown step */
    char why[PLAY_WHY_MAX];
};

/* Plays the script under this configuration. Returns false, and in why the expected and the actual
 * result. */
bool play_script(struct play *play, const struct script *script, const char *yaml);

/* ---- for the files with steps ---- */

/* Notes why the step fails. Returns false. */
bool play_fail(struct play *play, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns a word of the step's line: of "key=value" the value (static storage, NULL: missing), or a
 * single word. */
const char *play_arg(const struct play *play, const char *key);
uint64_t play_number(const struct play *play, const char *key, uint64_t otherwise);
uint64_t play_duration(const struct play *play, const char *key, uint64_t otherwise);
bool play_has(const struct play *play, const char *word);

struct play_verb {
    const char *name;
    bool (*run)(struct play *play);
    bool looks; /* checks past events, so its own ranges apply, not the next step's */
};

/* A row without a name ends the table. */
extern const struct play_verb play_stream_verbs[];
extern const struct play_verb play_client_verbs[];
extern const struct play_verb play_ask_verbs[];

#endif
