/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RPZ_RPZ_OPTIONS_H
#define NAILUP_RPZ_RPZ_OPTIONS_H

/* The options of a response policy zone. config fills them and owns the text. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"

enum { RPZ_ZONES_MAX = 32 };

/* rpz[].action-override, in the order of its words */
enum rpz_override {
    RPZ_OVERRIDE_GIVEN, /* each rule has its own action */
    RPZ_OVERRIDE_NXDOMAIN,
    RPZ_OVERRIDE_NODATA,
    RPZ_OVERRIDE_PASSTHRU,
    RPZ_OVERRIDE_DROP,
    RPZ_OVERRIDE_TCP_ONLY,
    RPZ_OVERRIDE_CNAME,
    RPZ_OVERRIDE_DISABLED,
};

/* rpz[].ede, in the order of its words */
enum rpz_ede {
    RPZ_EDE_BLOCKED,
    RPZ_EDE_CENSORED,
    RPZ_EDE_FILTERED,
    RPZ_EDE_PROHIBITED,
    RPZ_EDE_NONE
};

struct rpz_zone_options {
    uint8_t wire[NAME_WIRE_MAX]; /* its name, in lower case */
    uint8_t name_len;
    uint64_t mark;   /* rpz_choice_mark() of its item of `rpz`: a member has its catalog's mark */
    bool is_default; /* it applies to clients whose view chooses no zones */
    enum rpz_override override;
    uint8_t cname[NAME_WIRE_MAX]; /* of RPZ_OVERRIDE_CNAME; may begin with "*" */
    uint8_t cname_len;            /* 0: none */
    bool log;
    char *log_name; /* "": the zone's name */
    bool break_dnssec;
    enum rpz_ede ede;
    uint64_t max_bytes; /* of the zone's records, and of its rules */
};

#endif
