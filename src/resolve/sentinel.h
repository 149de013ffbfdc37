/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_SENTINEL_H
#define NAILUP_RESOLVE_SENTINEL_H

/*
 * The root key sentinel (RFC 8509): names by which a client finds out whether its resolver trusts a
 * key of the root. "root-key-sentinel-is-ta-20326" gets SERVFAIL where the key with this tag is not
 * trusted, and "root-key-sentinel-not-ta-20326" where it is. Pure; any thread.
 */

#include "dns/question.h"

struct anchors;

enum sentinel {
    SENTINEL_NONE, /* an ordinary question */
    SENTINEL_PASS, /* the answer stays */
    SENTINEL_FAIL, /* SERVFAIL in place of the answer */
};

/* Judges a question whose answer is secure. anchors: those in force; without one of the root, every
 * question is an ordinary one. */
enum sentinel sentinel_judge(const struct question *question, const struct anchors *anchors);

#endif
