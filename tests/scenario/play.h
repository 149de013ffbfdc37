/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_PLAY_H
#define NAILUP_TESTS_SCENARIO_PLAY_H

/* Plays the steps of a script in a world of its own. */

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
    uint64_t seed;   /* of all that is random */
    bool lacks_verb; /* a step that the runner does not know */
    char why[PLAY_WHY_MAX];
};

/* Plays the script under this configuration. False: why says what was expected and what came. */
bool play_script(struct play *play, const struct script *script, const char *yaml);

/* ---- for the files with verbs ---- */

/* Notes why the step fails; returns false. */
bool play_fail(struct play *play, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Words of the step's line: "key=value" (static storage, NULL: not there), and single ones. */
const char *play_arg(const struct play *play, const char *key);
uint64_t play_number(const struct play *play, const char *key, uint64_t otherwise);
uint64_t play_duration(const struct play *play, const char *key, uint64_t otherwise);
bool play_has(const struct play *play, const char *word);

struct play_verb {
    const char *name;
    bool (*run)(struct play *play);
    bool looks; /* it checks what has happened: the ranges of its own step hold, not the next's */
};

/* Ends with a row without a name. */
extern const struct play_verb play_stream_verbs[];
extern const struct play_verb play_client_verbs[];
extern const struct play_verb play_ask_verbs[];

#endif
