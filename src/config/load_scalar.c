/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads one word into its field, and words the error if it does not fit: the accepted values, the
 * bounds, the probable intention.
 */
#include "config/load_scalar.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/suggest.h"

static bool takes_never(enum kind kind)
{
    return kind == KIND_DURATION_OR_NEVER || kind == KIND_SECONDS_OR_NEVER;
}

static const char *host_name_remedy(const char *text)
{
    struct addr addr;
    if (addr_parse(&addr, text, 0) == ERR_OK)
        return "; leave it out: without a name the certificate must match the address";
    if (strchr(text, '*'))
        return "; write the name itself: a certificate for *.example.net covers it too";
    for (; *text; text++)
        if ((unsigned char)*text > 0x7f)
            return "; write it in ASCII, with xn-- labels";
    return "";
}

static const char *listen_remedy(const char *text)
{
    struct addr addr;
    if (addr_parse(&addr, text, 1) == ERR_OK && addr_lacks_zone(&addr))
        return "; add the interface, as in fe80::1%eth0";
    if (*addr_zone_hint(text))
        return addr_zone_hint(text);
    if (strchr(text, ']'))
        return "; write it without brackets, and the port after an @";
    if (strchr(text, '.') && strchr(text, ':'))
        return "; write the port after an @";
    return "";
}

/* A hint for a word that other programs accept, or for a missing unit. */
static const char *remedy(enum kind kind, const char *text)
{
    static const char *const yes[] = {"on", "1", "Yes", "YES", "True", "TRUE", "y"};
    static const char *const no[] = {"off", "0", "No", "NO", "False", "FALSE", "n"};
    bool is_bare_number = *text && strspn(text, "0123456789") == strlen(text);
    bool takes_yes = kind == KIND_BOOL || kind == KIND_VALIDATE || kind == KIND_AGGRESSIVE;
    for (size_t i = 0; takes_yes && i < ARRAY_LEN(yes); i++)
        if (strcmp(text, yes[i]) == 0)
            return "; did you mean yes?";
    for (size_t i = 0; takes_yes && i < ARRAY_LEN(no); i++)
        if (strcmp(text, no[i]) == 0)
            return "; did you mean no?";
    if (is_bare_number && kind_is_number(kind) && kind != KIND_COUNT && kind != KIND_COUNT16)
        return "; the unit is missing";
    if (kind == KIND_SIZE)
        return "; the units are B, KiB, MiB and GiB";
    if (kind == KIND_PREFIX && strchr(text, '@'))
        return "; a prefix matches any port";
    if (kind == KIND_PREFIX)
        return addr_zone_hint(text);
    if (kind == KIND_LISTEN_METRICS)
        return listen_remedy(text);
    if (kind == KIND_HOST_NAME)
        return host_name_remedy(text);
    if ((kind == KIND_PATH || kind == KIND_TEXT) && strlen(text) > KIND_STRING_MAX)
        return "; it is too long";
    return "";
}

static void report_word(struct loader *loader, const struct yaml_tree_node *node, const char *takes,
                        const char *words, const char *hint)
{
    char meant[64] = "";
    struct suggestion suggestion;
    suggest_init(&suggestion, node->text);
    for (const char *word = words; word && *word; word += strlen(word) + 1)
        suggest_offer(&suggestion, word);
    if (*hint == '\0' && suggestion.word)
        snprintf(meant, sizeof(meant), "; did you mean %s?", suggestion.word);
    loader_error_takes(loader, node, takes, *meant ? meant : hint);
}

static bool has_word(struct loader *loader, const struct yaml_tree_node *node, const char *takes)
{
    if (node->kind == TREE_SCALAR && !yaml_tree_is_empty(node))
        return true;
    loader_error_takes(loader, node, takes, "");
    return false;
}

static uint64_t bound(const struct option *option, const char *text)
{
    uint64_t number;
    MUST(kind_parse_number(option->kind, text, &number));
    return number;
}

/* "never" is accepted outside all bounds. */
static bool is_within(struct loader *loader, const struct option *option,
                      const struct yaml_tree_node *node, uint64_t number)
{
    if (strcmp(node->text, "never") == 0)
        return true;
    if (number >= bound(option, option->min) && number <= bound(option, option->max))
        return true;
    loader_error(loader, node, "%.40s is out of range; takes %s%s to %s%s%s", node->text,
                 takes_never(option->kind) ? "never or " : "", option->min, option->max,
                 *option->unit ? " " : "", option->unit);
    return false;
}

static bool load_number(struct loader *loader, const struct option *option,
                        const struct yaml_tree_node *node, void *field)
{
    uint64_t number;
    if (!kind_parse_number(option->kind, node->text, &number)) {
        report_word(loader, node, kind_takes(option->kind),
                    takes_never(option->kind) ? "never\0" : NULL, remedy(option->kind, node->text));
        return false;
    }
    if (!is_within(loader, option, node, number))
        return false;
    kind_store_number(option->kind, number, field);
    return true;
}

bool load_scalar_into(struct loader *loader, const struct yaml_tree_node *node, enum kind kind,
                      void *field)
{
    if (!has_word(loader, node, kind_takes(kind)))
        return false;
    if (kind_parse(kind, node->text, &loader->config->arena, field))
        return true;
    if (!loader_lacks_memory(loader))
        report_word(loader, node, kind_takes(kind), kind_words(kind), remedy(kind, node->text));
    return false;
}

bool load_scalar(struct loader *loader, const struct option *option,
                 const struct yaml_tree_node *node, void *owner)
{
    void *field = option_field(option, owner);
    if (!kind_is_number(option->kind))
        return load_scalar_into(loader, node, option->kind, field);
    return has_word(loader, node, kind_takes(option->kind)) &&
           load_number(loader, option, node, field);
}

int load_word(struct loader *loader, const struct yaml_tree_node *node, const char *words,
              const char *takes)
{
    if (!has_word(loader, node, takes))
        return -1;
    int index = 0;
    for (const char *word = words; *word; word += strlen(word) + 1, index++)
        if (strcmp(word, node->text) == 0)
            return index;
    report_word(loader, node, takes, words, "");
    return -1;
}
