/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Prints the JSON schema of nailup.yaml, from the tables of options and kinds.
 *
 *   nailup_schema FILE
 *
 * Invariant: the schema accepts every file that nailupd loads. A YAML reader of version 1.1 makes
 * booleans of yes and no, and numbers of digits, so both forms are accepted.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/transport.h"

enum { PREFIX_MAX = 128 };

struct row {
    const char *owner, *path, *kind, *default_text, *min, *max, *unit, *sentence;
};

static const struct row rows[] = {
#define OPTION(struct_tag, path, kind, field, default_text, min, max, unit, apply, sentence)       \
    {#struct_tag, path, #kind, default_text, min, max, unit, sentence},
#include "nailup/options.def"
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* The words that a kind allows. A NUL ends each, and another NUL ends the list. */
static const struct {
    const char *kind, *words;
} word_kinds[] = {
#define WORDS(name, type, takes, words) {#name, words},
#include "config/kinds.def"
};

#define IP "[0-9A-Fa-f:.]+(%[^@#/]+)?"

/* Kinds of text, by the pattern of their words. Other kinds of text have none. */
static const struct {
    const char *kind, *pattern;
} patterns[] = {
    {"DURATION", "^[0-9]+(ms|s|m|h|d)$"},
    {"SECONDS", "^[0-9]+(ms|s|m|h|d)$"},
    {"DURATION_OR_NEVER", "^(never|[0-9]+(ms|s|m|h|d))$"},
    {"SECONDS_OR_NEVER", "^(never|[0-9]+(ms|s|m|h|d))$"},
    {"SIZE", "^[0-9]+(B|KiB|MiB|GiB)$"},
    {"PREFIX", "^" IP "(/[0-9]+)?$"},
    {"DNS64_PREFIX", "^(" IP "/(32|40|48|56|64|96))?$"},
    {"LISTEN_METRICS", "^(" IP "(@[0-9]+)?)?$"},
};

/* The form of the items of a list. */
enum shape {
    SHAPE_TEXT,
    SHAPE_ADDRESS,
    SHAPE_PREFIX,
    SHAPE_UPSTREAM, /* an address, or a mapping with proofs of identity */
    SHAPE_PRIMARY,  /* likewise, with a key for signatures */
    SHAPE_ACCESS,
    SHAPE_ENTRY,   /* a prefix, or a mapping with the keys of upstream */
    SHAPE_ZONE,    /* a mapping with the keys of upstream */
    SHAPE_MAPPING, /* a mapping with its own keys only */
};

static const struct {
    const char *kind;
    enum shape shape;
    bool is_single; /* one item needs no list around it */
} shapes[] = {
    {"FILES", SHAPE_TEXT, true},           {"LISTEN", SHAPE_ADDRESS, false},
    {"LISTEN_TLS", SHAPE_ADDRESS, false},  {"UPSTREAMS", SHAPE_UPSTREAM, false},
    {"SERVERS", SHAPE_ADDRESS, false},     {"PINS", SHAPE_TEXT, false},
    {"OUTGOING", SHAPE_ADDRESS, false},    {"ACCESS", SHAPE_ACCESS, false},
    {"ENTRIES", SHAPE_ENTRY, true},        {"PREFIXES", SHAPE_PREFIX, false},
    {"NAMES", SHAPE_TEXT, false},          {"ZONES", SHAPE_ZONE, false},
    {"LOCAL_ZONES", SHAPE_MAPPING, false}, {"RECORDS", SHAPE_TEXT, false},
    {"ANCHORS", SHAPE_TEXT, false},        {"BLOCK_LISTS", SHAPE_MAPPING, false},
    {"RPZ_ZONES", SHAPE_MAPPING, false},   {"VIEWS", SHAPE_MAPPING, false},
    {"REDIRECT", SHAPE_ADDRESS, false},    {"DNSTAP_MESSAGES", SHAPE_TEXT, false},
    {"AUTH_ZONES", SHAPE_MAPPING, false},  {"PRIMARIES", SHAPE_PRIMARY, false},
    {"TSIG_KEYS", SHAPE_MAPPING, false},   {"LISTEN_HTTPS", SHAPE_ADDRESS, false},
};

static void put_json_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

/* ---- single values ---- */

static const char *words_of(const char *kind)
{
    for (size_t i = 0; i < sizeof(word_kinds) / sizeof(word_kinds[0]); i++)
        if (strcmp(word_kinds[i].kind, kind) == 0)
            return word_kinds[i].words;
    return NULL;
}

static void put_words(FILE *out, const char *words)
{
    bool has_yes = false;
    fputs("\"enum\": [", out);
    for (const char *word = words; *word; word += strlen(word) + 1) {
        fputs(word == words ? "" : ", ", out);
        put_json_text(out, word);
        if (strspn(word, "0123456789") == strlen(word))
            fprintf(out, ", %s", word);
        has_yes |= strcmp(word, "yes") == 0;
    }
    fputs(has_yes ? ", true, false, \"true\", \"false\"]" : "]", out);
}

static void put_scalar(FILE *out, const struct row *row)
{
    const char *words = words_of(row->kind), *pattern = NULL;
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        if (strcmp(patterns[i].kind, row->kind) == 0)
            pattern = patterns[i].pattern;
    if (words)
        put_words(out, words);
    else if (strncmp(row->kind, "COUNT", strlen("COUNT")) == 0)
        fprintf(out,
                "\"type\": [\"integer\", \"string\"], \"minimum\": %s, \"maximum\": %s, "
                "\"pattern\": \"^[0-9]+$\"",
                row->min, row->max);
    else if (pattern)
        fprintf(out, "\"type\": \"string\", \"pattern\": \"%s\"", pattern);
    else
        fputs("\"type\": [\"string\", \"number\", \"boolean\"]", out);
}

/* ---- mappings ---- */

/* Returns whether the row may also be in a zone and in an entry of tcp-upstream-keepalive. */
static bool is_layered(const struct row *row)
{
    return strcmp(row->owner, "upstream_options") == 0 &&
           strncmp(row->path, "upstream.", strlen("upstream.")) == 0;
}

static bool is_below(const struct row *row, const char *prefix, bool only_layered)
{
    return strncmp(row->path, prefix, strlen(prefix)) == 0 && (!only_layered || is_layered(row));
}

/* Returns whether an earlier row begins with the same step below the prefix. */
static bool is_step_seen(size_t index, const char *prefix, size_t step, bool only_layered)
{
    size_t len = strlen(prefix) + step;
    for (size_t i = 0; i < index; i++)
        if (is_below(&rows[i], prefix, only_layered) &&
            strncmp(rows[i].path, rows[index].path, len) == 0 &&
            (rows[i].path[len] == '\0' || strchr(".[", rows[i].path[len])))
            return true;
    return false;
}

static void put_row(FILE *out, const struct row *row);

/* Writes the keys below the prefix. A section is a mapping again. */
static void put_keys(FILE *out, const char *prefix, bool only_layered, bool *is_first)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (!is_below(&rows[i], prefix, only_layered))
            continue;
        const char *rest = rows[i].path + strlen(prefix);
        size_t step = strcspn(rest, ".[");
        if (rest[step] == '[' || is_step_seen(i, prefix, step, only_layered))
            continue;
        fprintf(out, "%s\"%.*s\": {", *is_first ? "" : ",\n", (int)step, rest);
        *is_first = false;
        if (rest[step] == '\0') {
            put_row(out, &rows[i]);
        } else {
            char inside[PREFIX_MAX];
            bool is_first_inside = true;
            snprintf(inside, sizeof(inside), "%s%.*s.", prefix, (int)step, rest);
            fputs("\"type\": [\"object\", \"null\"], \"additionalProperties\": false, "
                  "\"properties\": {\n",
                  out);
            put_keys(out, inside, only_layered, &is_first_inside);
            fputs("}", out);
        }
        fputs("}", out);
    }
}

static void put_required(FILE *out, const char *prefix)
{
    bool is_first = true;
    fputs(", \"required\": [", out);
    for (size_t i = 0; i < ROWS; i++) {
        if (!is_below(&rows[i], prefix, false) || rows[i].default_text)
            continue;
        fputs(is_first ? "" : ", ", out);
        put_json_text(out, rows[i].path + strlen(prefix));
        is_first = false;
    }
    fputs("]", out);
}

/* Writes an item of the list at the path. */
static void put_mapping(FILE *out, const char *path, bool has_upstream_keys)
{
    char prefix[PREFIX_MAX];
    bool is_first = true;
    snprintf(prefix, sizeof(prefix), "%s[].", path);
    fputs("{\"type\": \"object\", \"additionalProperties\": false, \"properties\": {\n", out);
    put_keys(out, prefix, false, &is_first);
    if (has_upstream_keys)
        put_keys(out, "upstream.", true, &is_first);
    fputs("}", out);
    put_required(out, prefix);
    fputs("}", out);
}

/* ---- lists ---- */

static void put_item(FILE *out, const struct row *row, enum shape shape)
{
    static const char prefix[] = "{\"type\": \"string\", \"pattern\": \"^" IP "(/[0-9]+)?$\"}";
    switch (shape) {
    case SHAPE_TEXT:
        fputs("{\"type\": [\"string\", \"number\"]}", out);
        break;
    case SHAPE_ADDRESS:
        fputs("{\"type\": \"string\", \"pattern\": \"^" IP "(@[0-9]+)?$\"}", out);
        break;
    case SHAPE_PREFIX:
        fputs(prefix, out);
        break;
    case SHAPE_UPSTREAM:
        fputs("{\"oneOf\": [{\"type\": \"string\"}, {\"type\": \"object\", "
              "\"additionalProperties\": false, \"properties\": {\"address\": {\"type\": "
              "\"string\"}, \"auth-name\": {\"type\": \"string\"}, \"pin-sha256\": {\"type\": "
              "[\"array\", \"null\"], \"items\": {\"type\": \"string\"}, \"maxItems\": 16}}, "
              "\"required\": [\"address\"]}]}",
              out);
        break;
    case SHAPE_PRIMARY:
        fputs("{\"oneOf\": [{\"type\": \"string\"}, {\"type\": \"object\", "
              "\"additionalProperties\": false, \"properties\": {\"address\": {\"type\": "
              "\"string\"}, \"auth-name\": {\"type\": \"string\"}, \"pin-sha256\": {\"type\": "
              "[\"array\", \"null\"], \"items\": {\"type\": \"string\"}, \"maxItems\": 16}, "
              "\"tls\": {\"type\": [\"boolean\", \"string\"]}, \"tsig-key\": {\"type\": "
              "\"string\"}}, \"required\": [\"address\"]}]}",
              out);
        break;
    case SHAPE_ACCESS:
        fprintf(out,
                "{\"type\": \"object\", \"additionalProperties\": false, \"properties\": "
                "{\"prefix\": %s, \"action\": {\"type\": \"string\"}}, "
                "\"required\": [\"prefix\", \"action\"]}",
                prefix);
        break;
    case SHAPE_ENTRY:
        fprintf(out, "{\"oneOf\": [%s, ", prefix);
        put_mapping(out, row->path, true);
        fputs("]}", out);
        break;
    case SHAPE_ZONE:
    case SHAPE_MAPPING:
        put_mapping(out, row->path, shape == SHAPE_ZONE);
        break;
    }
}

static void put_list(FILE *out, const struct row *row, enum shape shape, bool is_single)
{
    if (is_single)
        fputs("\"type\": [\"array\", \"string\", \"null\"], ", out);
    else
        fputs("\"type\": [\"array\", \"null\"], ", out);
    fprintf(out, "\"minItems\": %s, \"maxItems\": %s, \"items\": ", row->min, row->max);
    put_item(out, row, shape);
}

static void put_row(FILE *out, const struct row *row)
{
    size_t at = 0;
    while (at < sizeof(shapes) / sizeof(shapes[0]) && strcmp(shapes[at].kind, row->kind) != 0)
        at++;
    if (at < sizeof(shapes) / sizeof(shapes[0]))
        put_list(out, row, shapes[at].shape, shapes[at].is_single);
    else
        put_scalar(out, row);
    fputs(",\n\"description\": ", out);
    put_json_text(out, row->sentence);
    if (row->default_text) {
        fputs(",\n\"x-default\": ", out);
        put_json_text(out, row->default_text);
    }
}

static void put_schema(FILE *out)
{
    bool is_first = true;
    fputs(
        "{\"$schema\": \"http://json-schema.org/draft-07/schema#\",\n\"title\": \"nailup.yaml\",\n"
        "\"description\": \"The configuration of nailupd. nailupd -t checks more than this "
        "schema.\",\n\"type\": [\"object\", \"null\"], \"additionalProperties\": false, "
        "\"properties\": {\n",
        out);
    put_keys(out, "", false, &is_first);
    fputs("}}\n", out);
}

int main(int argc, char **argv)
{
    FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
    if (!out) {
        fputs("usage: nailup_schema FILE\n", stderr);
        return EXIT_FAILURE;
    }
    put_schema(out);
    return fclose(out) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
