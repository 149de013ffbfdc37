/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_RESOLVE_LOCAL_SAMPLE_H
#define NAILUP_TESTS_RESOLVE_LOCAL_SAMPLE_H

/* Tables of local data made from text. */

#include "unit/resolve/sample.h"

#include "local/local_build.h"

static inline void zone(struct local_build *build, const char *name, enum local_action action)
{
    assert_int_equal(local_build_zone(build, NAME(name), action), ERR_OK);
}

static inline enum err try_record(struct local_build *build, const char *text, const char **why)
{
    static uint8_t wire[PRESENT_RR_MAX];
    size_t len;
    assert_int_equal(
        present_rr_from_text(wire, sizeof(wire), &len, text, name_root(), LOCAL_DATA_TTL_S),
        ERR_OK);
    return local_build_record(build, span_of(wire, len), why);
}

static inline void record(struct local_build *build, const char *text)
{
    const char *why;
    assert_int_equal(try_record(build, text, &why), ERR_OK);
}

static inline struct addr ip(const char *text)
{
    struct addr addr;
    assert_int_equal(addr_parse(&addr, text, 0), ERR_OK);
    return addr;
}

static inline struct local_names *build_end(struct local_build *build)
{
    struct local_names *names;
    assert_int_equal(local_build_end(&build, &names), ERR_OK);
    assert_null(build);
    return names;
}

#endif
