/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_DESCENT_H
#define NAILUP_RESOLVE_DESCENT_H

/*
 * What iterate does at one zone cut: asks its servers, looks up those whose addresses are missing,
 * and when all of them fail, asks the zone above anew. Each function appends the steps; those that
 * append STEP_FAIL, and those that may do so, come last. Pure; any thread.
 */

#include "resolve/strategy.h"

enum {
    DESCENT_LOOKUPS_AT_ONCE = 2, /* servers of a cut whose addresses are looked up together */
    DESCENT_LOOKUPS_MAX = 6,     /* servers of one cut whose addresses are looked up in all */
    DESCENT_TAG_ADDRESS = 0x100, /* of such a look-up: and the server's place times two, and 1 for
                                    IPv6 */
};

struct iterate_memory *descent_memory(const struct strategy_view *view);

/* Draws one of the kind from the question's budget. */
MUST_USE bool descent_draw(const struct strategy_view *view, enum budget_kind kind);

/* STEP_CUT for where the way down begins. */
void descent_find_cut(const struct strategy_view *view, struct steps *out);

/* Goes on with the servers of this cut. */
void descent_enter(const struct strategy_view *view, const struct delegation *cut,
                   struct steps *out);

/* The next question for the same servers. */
void descent_ask_on(const struct strategy_view *view, struct steps *out);

/* Those that were asked are of no use, or nobody is asked: asks addresses that came meanwhile, or
 * waits for those that are looked up, or looks up more, or goes back to the zone above. */
void descent_try_more(const struct strategy_view *view, struct steps *out);

/* The addresses that the zones above its servers know, and the cut does not: asks them. */
void descent_take_glue(const struct strategy_view *view, const struct delegation *cut,
                       struct steps *out);

/* As descent_enter(), but its known addresses were asked already. */
void descent_enter_asked(const struct strategy_view *view, const struct delegation *cut,
                         struct steps *out);

/* Tells cuts apart by their zone and addresses. */
uint64_t descent_mark(const struct delegation *cut);

void descent_fail(struct steps *out, uint16_t rcode, uint16_t ede);

/* The reasons are those of the last exchange (RFC 8914: 22, 23). */
void descent_fail_unreachable(const struct strategy_view *view, struct steps *out);

/* The question costs more than it may. */
void descent_fail_exhausted(const struct strategy_view *view, struct steps *out);

#endif
