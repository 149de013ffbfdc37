/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Tables of the DNS parameters registry. They describe how RDATA is laid out, not its meaning.
 */
#include "dns/rrtype.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/check.h"

struct word {
    uint16_t value;
    const char *text;
};

#define TYPE(name)                                                                                 \
    {                                                                                              \
        RRTYPE_##name, #name                                                                       \
    }
static const struct word types[] = {
    TYPE(A),          TYPE(NS),         TYPE(MD),     TYPE(MF),
    TYPE(CNAME),      TYPE(SOA),        TYPE(MB),     TYPE(MG),
    TYPE(MR),         TYPE(NULL),       TYPE(WKS),    TYPE(PTR),
    TYPE(HINFO),      TYPE(MINFO),      TYPE(MX),     TYPE(TXT),
    TYPE(RP),         TYPE(AFSDB),      TYPE(RT),     {RRTYPE_NSAP_PTR, "NSAP-PTR"},
    TYPE(SIG),        TYPE(KEY),        TYPE(PX),     TYPE(AAAA),
    TYPE(LOC),        TYPE(NXT),        TYPE(SRV),    TYPE(NAPTR),
    TYPE(KX),         TYPE(CERT),       TYPE(DNAME),  TYPE(OPT),
    TYPE(APL),        TYPE(DS),         TYPE(SSHFP),  TYPE(IPSECKEY),
    TYPE(RRSIG),      TYPE(NSEC),       TYPE(DNSKEY), TYPE(DHCID),
    TYPE(NSEC3),      TYPE(NSEC3PARAM), TYPE(TLSA),   TYPE(SMIMEA),
    TYPE(HIP),        TYPE(TALINK),     TYPE(CDS),    TYPE(CDNSKEY),
    TYPE(OPENPGPKEY), TYPE(CSYNC),      TYPE(ZONEMD), TYPE(SVCB),
    TYPE(HTTPS),      TYPE(SPF),        TYPE(LP),     TYPE(EUI48),
    TYPE(EUI64),      TYPE(NXNAME),     TYPE(TKEY),   TYPE(TSIG),
    TYPE(IXFR),       TYPE(AXFR),       TYPE(MAILB),  TYPE(MAILA),
    TYPE(ANY),        TYPE(URI),        TYPE(CAA),    TYPE(TA),
    TYPE(DLV),        TYPE(X25),        TYPE(ISDN),   TYPE(GPOS),
    TYPE(NID),        TYPE(L32),        TYPE(L64),
};

static const struct word classes[] = {
    {RRCLASS_IN, "IN"},     {RRCLASS_CH, "CH"},   {RRCLASS_HS, "HS"},
    {RRCLASS_NONE, "NONE"}, {RRCLASS_ANY, "ANY"},
};

static const struct word opcodes[] = {
    {OPCODE_QUERY, "QUERY"},   {OPCODE_IQUERY, "IQUERY"}, {OPCODE_STATUS, "STATUS"},
    {OPCODE_NOTIFY, "NOTIFY"}, {OPCODE_UPDATE, "UPDATE"}, {OPCODE_DSO, "DSO"},
};

#define RCODE(name)                                                                                \
    {                                                                                              \
        RCODE_##name, #name                                                                        \
    }
static const struct word rcodes[] = {
    RCODE(NOERROR), RCODE(FORMERR),   RCODE(SERVFAIL), RCODE(NXDOMAIN), RCODE(NOTIMP),
    RCODE(REFUSED), RCODE(YXDOMAIN),  RCODE(YXRRSET),  RCODE(NXRRSET),  RCODE(NOTAUTH),
    RCODE(NOTZONE), RCODE(DSOTYPENI), RCODE(BADVERS),  RCODE(BADKEY),   RCODE(BADTIME),
    RCODE(BADMODE), RCODE(BADNAME),   RCODE(BADALG),   RCODE(BADTRUNC), RCODE(BADCOOKIE),
};

static const char *word_of(const struct word *words, size_t count, uint16_t value,
                           const char *otherwise, char out[RRTYPE_TEXT_MAX])
{
    for (size_t i = 0; i < count; i++) {
        if (words[i].value == value) {
            snprintf(out, RRTYPE_TEXT_MAX, "%s", words[i].text);
            return out;
        }
    }
    snprintf(out, RRTYPE_TEXT_MAX, "%s%u", otherwise, value);
    return out;
}

const char *rrtype_name(uint16_t type, char out[RRTYPE_TEXT_MAX])
{
    return word_of(types, ARRAY_LEN(types), type, "TYPE", out);
}

const char *rrtype_class_name(uint16_t cls, char out[RRTYPE_TEXT_MAX])
{
    return word_of(classes, ARRAY_LEN(classes), cls, "CLASS", out);
}

const char *rrtype_rcode_name(uint16_t rcode, char out[RRTYPE_TEXT_MAX])
{
    return word_of(rcodes, ARRAY_LEN(rcodes), rcode, "RCODE", out);
}

const char *rrtype_opcode_name(uint8_t opcode, char out[RRTYPE_TEXT_MAX])
{
    return word_of(opcodes, ARRAY_LEN(opcodes), opcode, "OPCODE", out);
}

enum err rrtype_parse(uint16_t *type, const char *text)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (strcasecmp(types[i].text, text) == 0) {
            *type = types[i].value;
            return ERR_OK;
        }
    }
    if (strncasecmp(text, "TYPE", 4) != 0)
        return ERR_INVALID;
    uint32_t value = 0;
    const char *digit = text + 4;
    for (; *digit >= '0' && *digit <= '9' && value <= UINT16_MAX; digit++)
        value = value * 10 + (uint32_t)(*digit - '0');
    if (*digit || digit == text + 4 || value > UINT16_MAX)
        return ERR_INVALID;
    *type = (uint16_t)value;
    return ERR_OK;
}

/* ---- layouts ---- */

/* Names of RFC 1035 types are compressed in output. Compressed names are accepted in these types
 * and those of RFC 3597 section 4. */
#define OLD(prefix, names, suffix)                                                                 \
    {                                                                                              \
        prefix, 0, names, suffix, true, true                                                       \
    }
#define TAKEN(prefix, names, suffix)                                                               \
    {                                                                                              \
        prefix, 0, names, suffix, true, false                                                      \
    }
#define WHOLE(prefix, names, suffix)                                                               \
    {                                                                                              \
        prefix, 0, names, suffix, false, false                                                     \
    }
#define NO_NAMES(prefix, suffix)                                                                   \
    {                                                                                              \
        prefix, 0, 0, suffix, false, false                                                         \
    }

/* Layouts for every class. A missing type has zeros only: its RDATA is opaque. */
static const struct rrtype_layout layouts[RRTYPE_LP + 1] = {
    [RRTYPE_NS] = OLD(0, 1, 0),
    [RRTYPE_MD] = OLD(0, 1, 0),
    [RRTYPE_MF] = OLD(0, 1, 0),
    [RRTYPE_CNAME] = OLD(0, 1, 0),
    [RRTYPE_SOA] = OLD(0, 2, 20),
    [RRTYPE_MB] = OLD(0, 1, 0),
    [RRTYPE_MG] = OLD(0, 1, 0),
    [RRTYPE_MR] = OLD(0, 1, 0),
    [RRTYPE_PTR] = OLD(0, 1, 0),
    [RRTYPE_HINFO] = {0, 2, 0, 0, false, false},
    [RRTYPE_MINFO] = OLD(0, 2, 0),
    [RRTYPE_MX] = OLD(2, 1, 0),
    [RRTYPE_TXT] = NO_NAMES(0, RRTYPE_STRINGS),
    [RRTYPE_RP] = TAKEN(0, 2, 0),
    [RRTYPE_AFSDB] = TAKEN(2, 1, 0),
    [RRTYPE_RT] = TAKEN(2, 1, 0),
    [RRTYPE_NSAP_PTR] = WHOLE(0, 1, 0),
    [RRTYPE_SIG] = TAKEN(18, 1, RRTYPE_REST),
    [RRTYPE_KEY] = NO_NAMES(4, RRTYPE_REST),
    [RRTYPE_NXT] = TAKEN(0, 1, RRTYPE_REST),
    [RRTYPE_DNAME] = TAKEN(0, 1, 0),
    [RRTYPE_DS] = NO_NAMES(4, RRTYPE_REST),
    [RRTYPE_RRSIG] = WHOLE(18, 1, RRTYPE_REST),
    [RRTYPE_NSEC] = WHOLE(0, 1, RRTYPE_REST),
    [RRTYPE_DNSKEY] = NO_NAMES(4, RRTYPE_REST),
    [RRTYPE_NSEC3] = NO_NAMES(6, RRTYPE_REST),
    [RRTYPE_NSEC3PARAM] = NO_NAMES(5, RRTYPE_REST),
    [RRTYPE_TALINK] = WHOLE(0, 2, 0),
    [RRTYPE_CDS] = NO_NAMES(4, RRTYPE_REST),
    [RRTYPE_CDNSKEY] = NO_NAMES(4, RRTYPE_REST),
    [RRTYPE_SPF] = NO_NAMES(0, RRTYPE_STRINGS),
    [RRTYPE_LP] = WHOLE(2, 1, 0),
    /* only in class IN */
    [RRTYPE_A] = NO_NAMES(4, 0),
    [RRTYPE_AAAA] = NO_NAMES(16, 0),
    [RRTYPE_PX] = TAKEN(2, 2, 0),
    [RRTYPE_SRV] = TAKEN(6, 1, 0),
    [RRTYPE_NAPTR] = {4, 3, 1, 0, true, false},
    [RRTYPE_KX] = TAKEN(2, 1, 0),
    [RRTYPE_SVCB] = WHOLE(2, 1, RRTYPE_REST),
    [RRTYPE_HTTPS] = WHOLE(2, 1, RRTYPE_REST),
};

/* Other classes have other layouts: an A record of class CH has a name and two bytes. RFC 1035
 * section 3.4.1 defines A for IN. */
static bool is_of_internet(uint16_t type)
{
    switch (type) {
    case RRTYPE_A:
    case RRTYPE_AAAA:
    case RRTYPE_PX:
    case RRTYPE_SRV:
    case RRTYPE_NAPTR:
    case RRTYPE_KX:
    case RRTYPE_SVCB:
    case RRTYPE_HTTPS:
        return true;
    default:
        return false;
    }
}

const struct rrtype_layout *rrtype_layout(uint16_t type, uint16_t cls)
{
    if (type >= ARRAY_LEN(layouts))
        return NULL;
    const struct rrtype_layout *layout = &layouts[type];
    if (!layout->prefix && !layout->strings && !layout->names && !layout->suffix)
        return NULL;
    if (cls == RRCLASS_IN)
        return layout;
    /* NONE and ANY are operations of RFC 2136 on records that may be empty. */
    bool is_data = cls != RRCLASS_NONE && cls != RRCLASS_ANY;
    return is_data && !is_of_internet(type) ? layout : NULL;
}
