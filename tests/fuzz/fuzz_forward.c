/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads any lines as arguments of `nailupctl forward`, under a configuration with zones that have
 * strict TLS. Accepted lines make routes, and queries for the strict zones never use another
 * transport.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "config/runtime_zones.h"

static const char file[] =
    "tcp-upstream-keepalive: [192.0.2.0/25, {prefix: 10.9.0.0/16, transport: tls},\n"
    "  {prefix: 10.10.0.0/16, profile: opportunistic, transport: udp}]\n"
    "forward-zones:\n"
    "  - {name: ., transport: tls, upstreams: [9.9.9.9#dns.quad9.net]}\n"
    "  - {name: vpn.example, upstreams: [10.9.0.1]}\n"
    "  - {name: corp.example, upstreams: [192.0.2.1], trust-ad: no}\n";

static struct config *load(void)
{
    struct config *config;
    struct buf errors;
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    MUST(config_parse("f", file, sizeof(file) - 1, &config, &errors) == ERR_OK);
    buf_deinit(&errors);
    return config;
}

static bool is_strict(const struct route_upstream *upstream)
{
    return upstream_options_are_strict(&upstream->options) &&
           upstream->options.fallback == UPSTREAM_FALLBACK_NONE;
}

/* The first two zones of the file have strict TLS. */
static void lay_over(const struct config *config, const struct runtime_zone *forward)
{
    struct runtime_zones forwards = {0};
    struct route_options route;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    MUST(runtime_zones_put(&forwards, forward) == ERR_OK);
    MUST(runtime_zones_routes(&forwards, config, &config->route, &arena, &route) == ERR_OK);
    MUST(route.zone_count - config->route.zone_count <= 1);
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < route.zones[i].upstream_count; j++)
            MUST(is_strict(&route.zones[i].upstreams[j]));
    MUST(runtime_zones_remove(&forwards, runtime_zone_name(forward)));
    arena_deinit(&arena);
}

static size_t split(char *text, const char *words[RUNTIME_UPSTREAMS_MAX + 2])
{
    size_t count = 0;
    for (char *word = text; word && count < RUNTIME_UPSTREAMS_MAX + 2;) {
        char *end = strchr(word, '\n');
        if (end)
            *end++ = '\0';
        words[count++] = word;
        word = end;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct config *config;
    char text[2048], why[RUNTIME_ZONE_WHY_MAX];
    const char *words[RUNTIME_UPSTREAMS_MAX + 2];
    struct runtime_zone forward;
    if (!config)
        config = load();
    size = MIN(size, sizeof(text) - 1);
    memcpy(text, data, size);
    text[size] = '\0';
    size_t count = split(text, words);
    if (runtime_zone_parse(&forward, words[0], count - 1, words + 1, why) != ERR_OK)
        return 0;
    MUST(runtime_zone_is_same(&forward, &forward));
    if (forward.upstream_count > 0 && runtime_zone_check(config, &forward, why) == ERR_OK)
        lay_over(config, &forward);
    return 0;
}
