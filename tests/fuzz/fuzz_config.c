/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Loads any bytes as a configuration file, with recursion and without. The result is either errors
 * or a configuration, and its printed text must load and print the same text again.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "config/config.h"

static struct config *load(struct span text)
{
    struct config *config;
    struct buf errors;
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    enum err err = config_parse("fuzz", (const char *)text.data, text.len, &config, &errors);
    MUST((err == ERR_OK) == (config != NULL));
    MUST((err == ERR_OK) == (buf_len(&errors) == 0));
    buf_deinit(&errors);
    return config;
}

static void ask_for_options(const struct config *config)
{
    struct route_upstream met;
    for (size_t i = 0; i < config->entry_count; i++)
        (void)policy_choose(&config->policy, &config->entries[i].prefix.addr, &met);
    for (size_t i = 0; i < config->do_not_query.count; i++)
        MUST(!policy_choose(&config->policy, &config->do_not_query.list[i].addr, &met));
    for (size_t i = 0; i < config->route.zone_count; i++)
        MUST(config->route.zones[i].upstream_count > 0);
}

static void print_twice(const struct config *config)
{
    struct buf first, second;
    buf_init(&first, 4 * CONFIG_FILE_MAX);
    buf_init(&second, 4 * CONFIG_FILE_MAX);
    MUST(config_print(config, &first) == ERR_OK);
    struct config *again = load(buf_span(&first));
    MUST(again);
    MUST(config_print(again, &second) == ERR_OK);
    MUST(span_equal(buf_span(&first), buf_span(&second)));
    config_free(again);
    buf_deinit(&first);
    buf_deinit(&second);
}

static void try(struct span text)
{
    struct config *config = load(text);
    if (config) {
        ask_for_options(config);
        print_twice(config);
    }
    config_free(config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try(span_of(data, size));
    return 0;
}
