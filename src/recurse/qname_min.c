/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Counts labels and questions; the strategy decides what answers mean. Invariant: each name has
 * more labels than the one before it, or is whole, so at most MAX_MINIMISE_COUNT minimised
 * questions come before the whole name.
 */
#include "recurse/qname_min.h"

#include "base/check.h"
#include "dns/rrtype.h"

void qname_min_init(struct qname_min *min, bool on)
{
    *min = (struct qname_min){.on = on};
}

/* Returns how many of the remaining labels the next question adds. */
static unsigned step_of(const struct qname_min *min, unsigned left)
{
    if (min->count < MINIMISE_ONE_LAB)
        return 1;
    if (min->count >= MAX_MINIMISE_COUNT)
        return left;
    return MAX(left / (MAX_MINIMISE_COUNT - min->count), 1u);
}

static bool begins_with_underscore(struct name name)
{
    return !name_is_root(name) && name.wire[1] == '_';
}

static unsigned labels_to_show(const struct qname_min *min, struct name whole, unsigned known)
{
    unsigned labels = name_label_count(whole);
    unsigned shown = known + step_of(min, labels - known);
    while (shown < labels && begins_with_underscore(name_suffix(whole, shown)))
        shown++;
    return shown;
}

/* A DS record is the parent's, so its servers get the whole question when one label is left
 * (section 3, step 3). */
void qname_min_next(struct qname_min *min, const struct question *question, struct name zone,
                    struct question *out)
{
    MUST(name_is_below(question->name, zone));
    unsigned labels = name_label_count(question->name);
    unsigned known = MAX(name_label_count(zone), (unsigned)min->passed);
    *out = *question;
    if (!min->on || known >= labels || min->count >= MAX_MINIMISE_COUNT)
        return;
    unsigned shown = labels_to_show(min, question->name, known);
    if (shown >= labels)
        return;
    min->count++;
    out->name = name_suffix(question->name, shown);
    out->type = RRTYPE_A;
}

void qname_min_passed(struct qname_min *min, const struct question *asked)
{
    min->passed = (uint8_t)name_label_count(asked->name);
}

void qname_min_stop(struct qname_min *min)
{
    min->on = false;
}

bool qname_min_may_be_dropped(struct name zone)
{
    return name_label_count(zone) > 1;
}
