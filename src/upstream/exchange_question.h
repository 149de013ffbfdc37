/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_EXCHANGE_QUESTION_H
#define NAILUP_UPSTREAM_EXCHANGE_QUESTION_H

#include <stdbool.h>

#include <stdint.h>

#include "dns/question.h"

/* What is asked; the name is borrowed until the exchange ends. */
struct exchange_question {
    struct question question;
    bool recursion_desired;
    bool checking_disabled;
    bool dnssec_ok;
    bool authentic_data;    /* AD: whether it is validated is to be told also without DO */
    uint8_t attempts_max;   /* 0, or fewer than EXCHANGE_ATTEMPTS_MAX */
    uint64_t wall_us;       /* 0, or less than EXCHANGE_WALL_US */
    int prefer_family;      /* AF_INET, AF_INET6: servers of the other are asked where these fail;
                               0: whichever answers fastest */
    uint8_t *attempts_left; /* shared with other questions: none is sent when it is at 0, and each
                               counts it down; until the exchange ends. NULL: no such bound */
    uint64_t doubtful;      /* a bit per upstream of the group: asked where the others were tried */
    bool accepts_one_round; /* where all were silent lately, one round is enough (given_up.h) */
};

#endif
