/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_NTA_COMMAND_H
#define NAILUP_DAEMON_NTA_COMMAND_H

/* The arguments of `nailupctl nta`, and the tables that it and `nailupctl anchors` show. */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "config/runtime_ntas.h"

struct anchor_point;
struct anchors;
struct call;

enum nta_verb { NTA_LIST, NTA_ADD, NTA_REMOVE };

struct nta_request {
    enum nta_verb verb;
    struct runtime_nta nta; /* of NTA_ADD and NTA_REMOVE; without an end for the latter */
};

/* Reads the arguments. ERR_INVALID: why is a sentence. */
MUST_USE enum err nta_command_read(const struct call *call, uint64_t now, struct nta_request *out,
                                   char why[RUNTIME_NTA_WHY_MAX]);

/* Adds or removes. *changed: the name was added or removed; else only its end may
 * differ. On error nothing has changed and why is a sentence. */
MUST_USE enum err nta_command_apply(struct runtime_ntas *ntas, const struct nta_request *request,
                                    bool *changed, char why[RUNTIME_NTA_WHY_MAX]);

/* Fill the call's reply; the caller calls call_done(). */
void nta_command_show(struct call *call, const struct runtime_ntas *ntas, uint64_t now);
void nta_command_show_anchors(struct call *call, const struct anchors *anchors,
                              const struct anchor_point *point, int64_t now_s);

#endif
