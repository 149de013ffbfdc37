/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "support/fake_opt.h"

#include "base/check.h"
#include "dns/build.h"
#include "dns/edns.h"
#include "dns/header.h"

enum { UDP_SIZE = 1232 };

static void opt_begin(struct build *build, struct fake_answer *answer, uint16_t rcode)
{
    build_init(build, answer->data + answer->len, sizeof(answer->data) - answer->len);
    build_opt_begin(build, UDP_SIZE, rcode, 0, false);
}

static void opt_end(struct build *build, struct fake_answer *answer)
{
    build_opt_end(build);
    MUST(!build->overflow);
    answer->len += build_len(build);
    header_set_count(answer->data, SECTION_ADDITIONAL, 1);
}

void fake_opt_keepalive(struct fake_answer *answer, uint16_t timeout_100ms)
{
    struct build build;
    opt_begin(&build, answer, 0);
    edns_add_keepalive_answer(&build, timeout_100ms);
    opt_end(&build, answer);
}

void fake_opt_cookie(struct fake_answer *answer, const uint8_t *client, struct span server,
                     uint16_t rcode)
{
    struct build build;
    opt_begin(&build, answer, rcode);
    edns_add_cookie(&build, client, server);
    opt_end(&build, answer);
    if (rcode)
        header_set_rcode(answer->data, (uint8_t)(rcode & 15));
}
