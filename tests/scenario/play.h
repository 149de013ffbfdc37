/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_PLAY_H
#define NAILUP_TESTS_SCENARIO_PLAY_H

/* Plays the steps of a script in a separate world. */

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
    uint64_t seed;   /* for everything random */
    bool lacks_verb; /* the script has an unknown step */
    char why[PLAY_WHY_MAX];
};

/* Plays the script under this configuration. False: why says what was expected and what came
 * instead. */
bool play_script(struct play *play, const struct script *script, const char *yaml);

/* ---- for the files with steps ---- */

/* Notes why the step fails. Returns false. */
bool play_fail(struct play *play, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns a word of the step's line: "key=value" (static storage, NULL: missing), or a single
 * one. */
const char *play_arg(const struct play *play, const char *key);
uint64_t play_number(const struct play *play, const char *key, uint64_t otherwise);
uint64_t play_duration(const struct play *play, const char *key, uint64_t otherwise);
bool play_has(const struct play *play, const char *word);

struct play_verb {
    const char *name;
    bool (*run)(struct play *play);
    bool looks; /* it checks past events, so the ranges of this step apply, not those of the next */
};

/* Ends with a row that has no name. */
extern const struct play_verb play_stream_verbs[];
extern const struct play_verb play_client_verbs[];
extern const struct play_verb play_ask_verbs[];

#endif
