/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Parses and prints values of one word. load_scalar.c words the errors. Invariant:
 * kind_parse(kind_format(x)) is x.
 */
#include "config/kind.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/prefix.h"
#include "config/account.h"
#include "config/config.h"
#include "dns/name.h"
#include "resolve/dns64.h"
#include "serve/nsid.h"

static const struct {
    const char *takes, *words;
    size_t size;
    bool is_list;
} kinds[] = {
#define WORDS(name, type, takes_text, words_text)                                                  \
    [KIND_##name] = {.takes = (takes_text), .words = (words_text), .size = sizeof(type)},
#define SCALAR(name, type, takes_text)                                                             \
    [KIND_##name] = {.takes = (takes_text), .size = sizeof(type)},
#define LIST(name, type, takes_text)                                                               \
    [KIND_##name] = {.takes = (takes_text), .size = sizeof(type), .is_list = true},
#include "config/kinds.def"
};

/* A unit and its size. Larger units come first: a value is printed in the largest unit that divides
 * it. */
struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit time_units[] = {
    {"d", 86400000000}, {"h", 3600000000}, {"m", 60000000}, {"s", 1000000}, {"ms", 1000}, {0},
};

static const struct unit size_units[] = {
    {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}, {0},
};

enum {
    US_PER_SECOND = 1000000,
    METRICS_PORT = 9953,
    TXT_MAX = 255, /* bytes of one string in a TXT record */
    HTTP_PATH_MAX = 255,
};

bool kind_is_list(enum kind kind)
{
    return kinds[kind].is_list;
}

size_t kind_size(enum kind kind)
{
    return kinds[kind].size;
}

const char *kind_takes(enum kind kind)
{
    return kinds[kind].takes;
}

const char *kind_words(enum kind kind)
{
    return kinds[kind].words;
}

static bool kind_may_be_never(enum kind kind)
{
    return kind == KIND_DURATION_OR_NEVER || kind == KIND_SECONDS_OR_NEVER;
}

static bool is_seconds(enum kind kind)
{
    return kind == KIND_SECONDS || kind == KIND_SECONDS_OR_NEVER;
}

static const struct unit *units_of(enum kind kind)
{
    switch (kind) {
    case KIND_DURATION:
    case KIND_DURATION_OR_NEVER:
    case KIND_SECONDS:
    case KIND_SECONDS_OR_NEVER:
        return time_units;
    case KIND_SIZE:
        return size_units;
    default:
        return NULL;
    }
}

bool kind_is_number(enum kind kind)
{
    return kind == KIND_COUNT || kind == KIND_COUNT16 || units_of(kind);
}

/* Reads one or more digits and moves *text past them. */
static bool parse_digits(const char **text, uint64_t *out)
{
    const char *at = *text;
    uint64_t value = 0;
    if (*at < '0' || *at > '9')
        return false;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
            return false;
    }
    *text = at;
    *out = value;
    return true;
}

static uint64_t find_factor(const struct unit *units, const char *name)
{
    for (; units->name; units++)
        if (strcmp(units->name, name) == 0)
            return units->factor;
    return 0;
}

bool kind_parse_number(enum kind kind, const char *text, uint64_t *number)
{
    const struct unit *units = units_of(kind);
    if (kind_may_be_never(kind) && strcmp(text, "never") == 0) {
        *number = 0;
        return true;
    }
    uint64_t value;
    if (!parse_digits(&text, &value))
        return false;
    uint64_t factor = units ? find_factor(units, text) : *text == '\0';
    if (factor == 0 || __builtin_mul_overflow(value, factor, &value))
        return false;
    if (is_seconds(kind) && value % US_PER_SECOND != 0)
        return false;
    *number = value;
    return true;
}

/* The field's value in the units of kind_parse_number(). */
static uint64_t kind_load_number(enum kind kind, const void *field)
{
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (kind_size(kind)) {
    case sizeof(u16):
        memcpy(&u16, field, sizeof(u16));
        return u16;
    case sizeof(u32):
        memcpy(&u32, field, sizeof(u32));
        return is_seconds(kind) ? (uint64_t)u32 * US_PER_SECOND : u32;
    default:
        memcpy(&u64, field, sizeof(u64));
        return u64;
    }
}

void kind_store_number(enum kind kind, uint64_t number, void *field)
{
    if (is_seconds(kind))
        number /= US_PER_SECOND;
    uint16_t u16 = (uint16_t)number;
    uint32_t u32 = (uint32_t)number;
    switch (kind_size(kind)) {
    case sizeof(u16):
        MUST(u16 == number);
        memcpy(field, &u16, sizeof(u16));
        break;
    case sizeof(u32):
        MUST(u32 == number);
        memcpy(field, &u32, sizeof(u32));
        break;
    default:
        memcpy(field, &number, sizeof(number));
    }
}

static bool kind_has_word(enum kind kind, const char *text)
{
    const char *word = kind_words(kind);
    while (*word && strcmp(word, text) != 0)
        word += strlen(word) + 1;
    return *word;
}

/* Programs that write YAML write true and false for yes and no, in the three cases of YAML 1.2. */
static const char *word_meant(enum kind kind, const char *text)
{
    static const char *const booleans[] = {"true", "True", "TRUE", "false", "False", "FALSE"};
    if (!kind_has_word(kind, "yes"))
        return text;
    for (size_t i = 0; i < ARRAY_LEN(booleans); i++)
        if (strcmp(booleans[i], text) == 0)
            return i < ARRAY_LEN(booleans) / 2 ? "yes" : "no";
    return text;
}

/* Words of an enum are stored as unsigned, those of a bool in one byte. */
static bool parse_word(enum kind kind, const char *text, void *field)
{
    unsigned value = 0;
    text = word_meant(kind, text);
    for (const char *word = kind_words(kind); *word; word += strlen(word) + 1, value++) {
        if (strcmp(word, text) != 0)
            continue;
        if (kind == KIND_BOOL)
            *(bool *)field = value;
        else
            memcpy(field, &value, sizeof(value));
        return true;
    }
    return false;
}

_Static_assert(sizeof(enum transport) == sizeof(unsigned), "words are stored as unsigned");
_Static_assert(sizeof(enum local_action) == sizeof(unsigned), "words are stored as unsigned");
_Static_assert(sizeof(enum zonemd_mode) == sizeof(unsigned), "words are stored as unsigned");
_Static_assert(sizeof(enum config_tsig_algorithm) == sizeof(unsigned),
               "words are stored as unsigned");
_Static_assert(sizeof(enum zone_use) == sizeof(unsigned), "words are stored as unsigned");
_Static_assert(sizeof(enum tls_profile) == sizeof(unsigned), "words are stored as unsigned");
_Static_assert(sizeof(enum log_level) == sizeof(unsigned), "words are stored as unsigned");

_Static_assert(sizeof(enum recursion_prefer_ip) == sizeof(unsigned),
               "words are stored as unsigned");
_Static_assert(sizeof(enum server_proxy_tls) == sizeof(unsigned), "words are stored as unsigned");
_Static_assert(sizeof(enum aggressive_mode) == sizeof(unsigned), "words are stored as unsigned");
_Static_assert(sizeof(enum validate_mode) == sizeof(unsigned), "words are stored as unsigned");
_Static_assert(sizeof(enum config_update) == sizeof(unsigned), "words are stored as unsigned");

static bool parse_zone_name(const char *text, uint8_t field[NAME_WIRE_MAX])
{
    struct name name;
    uint8_t wire[NAME_WIRE_MAX];
    if (name_parse(&name, wire, text, strlen(text)))
        return false;
    memset(field, 0, NAME_WIRE_MAX);
    name_fold(name, field);
    return true;
}

static bool store_string(const char *text, struct arena *arena, char **field)
{
    *field = arena_copy(arena, text, strlen(text) + 1);
    return *field != NULL;
}

/* Printable text is safe in a log line. */
/* A path of RFC 3986 section 3.3 without characters that clients may write in two ways. */
static bool is_http_path(const char *text)
{
    static const char known[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789-._~/";
    size_t len = strspn(text, known);
    return text[0] == '/' && !text[len] && len <= HTTP_PATH_MAX;
}

static bool is_printable(const char *text)
{
    size_t len = 0;
    for (; text[len]; len++)
        if ((unsigned char)text[len] < ' ' || text[len] == 0x7f)
            return false;
    return len <= KIND_STRING_MAX;
}

/* Follows the rule for names after an address. */
bool kind_parse_host_name(const char *text, char out[ADDR_NAME_MAX])
{
    char named[ADDR_NAME_MAX + 8];
    struct addr addr;
    bool has_port;
    int len = snprintf(named, sizeof(named), "::#%s", text);
    if (len >= (int)sizeof(named) || addr_parse_named(&addr, &has_port, out, named, 0))
        return false;
    for (char *at = out; *at; at++)
        if (*at >= 'A' && *at <= 'Z')
            *at += 'a' - 'A';
    return true;
}

/* The address of one machine: not multicast, and not port 0, for which the kernel would choose a
 * port. */
static bool parse_listen_metrics(const char *text, struct addr *field)
{
    size_t len;
    *field = (struct addr){0};
    if (*text == '\0')
        return true;
    if (addr_parse(field, text, METRICS_PORT) || addr_port(field) == 0 || addr_lacks_zone(field))
        return false;
    const uint8_t *bytes = addr_bytes(field, &len);
    return len == 4 ? bytes[0] < 224 : bytes[0] != 0xff;
}

static bool parse_host_name(const char *text, struct arena *arena, char **field)
{
    char name[ADDR_NAME_MAX] = "";
    struct addr addr;
    if (*text && (!kind_parse_host_name(text, name) || addr_parse(&addr, text, 0) == ERR_OK))
        return false;
    return store_string(name, arena, field);
}

/* RFC 6052 section 2.2. */
static bool parse_dns64_prefix(const char *text, struct prefix *prefix)
{
    struct prefix parsed;
    if (*text == '\0') {
        *prefix = (struct prefix){0};
        return true;
    }
    if (!strchr(text, '/') || prefix_parse(&parsed, text) != ERR_OK || !dns64_is_sound(&parsed))
        return false;
    *prefix = parsed;
    return true;
}

bool kind_parse(enum kind kind, const char *text, struct arena *arena, void *field)
{
    uint64_t number;
    MUST(!kind_is_list(kind));
    if (kind_words(kind))
        return parse_word(kind, text, field);
    switch (kind) {
    case KIND_PREFIX:
        return prefix_parse(field, text) == ERR_OK;
    case KIND_DNS64_PREFIX:
        return parse_dns64_prefix(text, field);
    case KIND_ZONE_NAME:
        return parse_zone_name(text, field);
    case KIND_ACCOUNT:
    case KIND_ACCOUNT_NAME:
        return account_is_sound(text, kind == KIND_ACCOUNT) && store_string(text, arena, field);
    case KIND_FILE_MODE:
        return account_parse_mode(text, field);
    case KIND_HOST_NAME:
        return parse_host_name(text, arena, field);
    case KIND_LISTEN_METRICS:
        return parse_listen_metrics(text, field);
    case KIND_PATH:
    case KIND_TEXT:
        return is_printable(text) && store_string(text, arena, field);
    case KIND_HTTP_PATH:
        return is_http_path(text) && store_string(text, arena, field);
    case KIND_NSID:
        return is_printable(text) && strlen(text) <= TXT_MAX && (!*text || nsid_is_sound(text)) &&
               store_string(text, arena, field);
    case KIND_LINE:
        return is_printable(text) && strlen(text) <= TXT_MAX && store_string(text, arena, field);
    default:
        if (!kind_parse_number(kind, text, &number))
            return false;
        kind_store_number(kind, number, field);
        return true;
    }
}

static void format_number(enum kind kind, uint64_t number, char *out)
{
    const struct unit *unit = units_of(kind);
    if (!unit) {
        snprintf(out, KIND_TEXT_MAX, "%" PRIu64, number);
        return;
    }
    if (number == 0) {
        strcpy(out, kind_may_be_never(kind) ? "never" : unit == time_units ? "0s" : "0B");
        return;
    }
    while (number % unit->factor != 0)
        unit++;
    snprintf(out, KIND_TEXT_MAX, "%" PRIu64 "%s", number / unit->factor, unit->name);
}

static void format_word(enum kind kind, const void *field, char *out)
{
    unsigned value = 0;
    if (kind == KIND_BOOL)
        value = *(const bool *)field;
    else
        memcpy(&value, field, sizeof(value));
    const char *word = kind_words(kind);
    while (value--)
        word += strlen(word) + 1;
    strcpy(out, word);
}

/* Writes text between double quotes and escapes " and \. */
static void format_quoted(const char *text, char *out)
{
    size_t len = 0;
    out[len++] = '"';
    for (; *text && len < KIND_TEXT_MAX - 4; text++) {
        if (*text == '"' || *text == '\\')
            out[len++] = '\\';
        out[len++] = *text;
    }
    strcpy(out + len, "\"");
}

static void format_zone_name(const uint8_t *wire, char *out)
{
    struct name name;
    char text[NAME_TEXT_MAX];
    MUST(name_view(span_of(wire, NAME_WIRE_MAX), 0, &name) != 0);
    name_format(name, text);
    if (strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == strlen(text) && *text != '-')
        strcpy(out, text);
    else
        format_quoted(text, out);
}

static void format_prefix(const struct prefix *prefix, char *out)
{
    char text[PREFIX_TEXT_MAX];
    prefix_format(prefix, text);
    snprintf(out, KIND_TEXT_MAX, strchr(text, ':') ? "\"%s\"" : "%s", text);
}

static void format_listen_metrics(const struct addr *addr, char *out)
{
    char text[ADDR_TEXT_MAX] = "";
    if (addr_family(addr) != AF_UNSPEC)
        addr_format(addr, text);
    snprintf(out, KIND_TEXT_MAX, *text && !strchr(text, ':') ? "%s" : "\"%s\"", text);
}

static void format_dns64_prefix(const struct prefix *prefix, char *out)
{
    if (prefix->length)
        format_prefix(prefix, out);
    else
        snprintf(out, KIND_TEXT_MAX, "\"\"");
}

const char *kind_format(enum kind kind, const void *field, char out[KIND_TEXT_MAX])
{
    MUST(!kind_is_list(kind));
    if (kind_words(kind))
        format_word(kind, field, out);
    else if (kind == KIND_PREFIX)
        format_prefix(field, out);
    else if (kind == KIND_DNS64_PREFIX)
        format_dns64_prefix(field, out);
    else if (kind == KIND_LISTEN_METRICS)
        format_listen_metrics(field, out);
    else if (kind == KIND_ZONE_NAME)
        format_zone_name(field, out);
    else if (kind == KIND_FILE_MODE)
        snprintf(out, KIND_TEXT_MAX, "%04o", *(const uint16_t *)field);
    else if (kind_is_number(kind))
        format_number(kind, kind_load_number(kind, field), out);
    else
        format_quoted(*(char *const *)field, out);
    return out;
}
