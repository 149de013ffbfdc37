/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * What only shows when all is loaded: values that contradict each other. Each value alone was
 * checked when it was read. Zones and entries are config_check_zones.c's, TLS is
 * config_check_tls.c's.
 */
#include "config/loader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

/* Where a key stands, or the beginning of the file when it does not. */
static struct config_position config_check_position_of(const struct config *config,
                                                       const char *path)
{
    const struct option *option = options_find(path);
    MUST(option);
    struct config_position position = config->written[option_index(option)];
    return position.line ? position : (struct config_position){1, 1, 0};
}

bool config_is_given(const struct config *config, const char *path)
{
    const struct option *option = options_find(path);
    MUST(option);
    return config->written[option_index(option)].line != 0;
}

/* Of two keys that contradict each other, the one that is written. */
static const char *written_one(const struct config *config, const char *path, const char *other)
{
    return config_is_given(config, path) ? path : other;
}

static void check_has_zone(struct loader *loader)
{
    const struct yaml_tree_node *zones =
        loader->root ? yaml_tree_find(loader->root, "forward-zones") : NULL;
    const struct config *config = loader->config;
    if (config->route.recursion.enabled || config->stub_count)
        return;
    if (zones && (zones->count || zones->broken || !yaml_tree_is_empty(zones)) &&
        (zones->kind != TREE_LIST || zones->count))
        return;
    problems_add(loader->problems, config_check_position_of(config, "recursion.enabled"),
                 "recursion.enabled",
                 "is no, and no zone has servers, so nothing could be answered; write yes, or add "
                 "the servers to ask, for example forward-zones: [{name: ., upstreams: "
                 "[192.0.2.53]}]");
}

bool config_has_recursion(const struct config *config)
{
    bool has_root = false;
    for (size_t i = 0; i < config->zone_count && !has_root; i++)
        has_root = config->zones[i].name_len == 1;
    return config->route.recursion.enabled && !has_root;
}

void config_warn(struct loader *loader, const char *path, const char *format, ...)
{
    struct config_position position = config_check_position_of(loader->config, path);
    char text[800], line[2000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    snprintf(line, sizeof(line), "%.900s:%u:%u: warning: %s\n",
             problems_file(loader->problems, position, loader->file_name), position.line,
             position.column, text);
    if (buf_append(&loader->config->warnings, line, strlen(line)))
        return;
}

/* Nothing contradicts itself: there may be a world whose servers all speak it. */
static void warn_of_tls_everywhere(struct loader *loader)
{
    const struct config *config = loader->config;
    if (transport_is_secure(config->upstream.transport) && config_has_recursion(config))
        config_warn(loader, "upstream.transport",
                    "upstream.transport: tls holds for the authoritative servers that recursion "
                    "meets too, and few of them speak it; write it into the zones and entries "
                    "whose servers do, or turn recursion.enabled off");
}

static void check_ttls(struct loader *loader)
{
    const struct config *config = loader->config;
    const char *path = written_one(config, "cache.min-ttl", "cache.max-ttl");
    if (config->cache.min_ttl_s > config->cache.max_ttl_s)
        problems_add(loader->problems, config_check_position_of(config, path), path,
                     "min-ttl %us is above max-ttl %us; lower the one or raise the other",
                     config->cache.min_ttl_s, config->cache.max_ttl_s);
}

static void check_socket(struct loader *loader)
{
    const struct config *config = loader->config;
    size_t len = strlen(config->control_socket);
    if (len > CONFIG_SOCKET_MAX)
        problems_add(loader->problems, config_check_position_of(config, "control.socket"),
                     "control.socket", "has %zu bytes; the system takes paths of at most %d", len,
                     CONFIG_SOCKET_MAX);
}

/* Whether two TCP sockets could not both have the address, or would share its clients. */
static bool is_same_place(const struct addr *a, const struct addr *b)
{
    return addr_port(a) == addr_port(b) && addr_family(a) == addr_family(b) &&
           (addr_equal(a, b) || addr_is_any(a) || addr_is_any(b));
}

static void check_metrics(struct loader *loader, const struct addr *list, size_t count,
                          const char *key)
{
    const struct config *config = loader->config;
    char text[ADDR_TEXT_MAX];
    for (size_t i = 0; i < count; i++)
        if (is_same_place(&config->metrics_listen, &list[i]))
            problems_add(loader->problems, config_check_position_of(config, "metrics.listen"),
                         "metrics.listen", "clashes with %s of %s; take another port",
                         addr_format(&list[i], text), key);
}

void config_check(struct loader *loader)
{
    const struct server_options *server = &loader->config->server;
    config_note_listeners(loader->config);
    check_metrics(loader, server->listen, server->listen_count, "server.listen");
    check_metrics(loader, server->listen_tls, server->listen_tls_count, "server.listen-tls");
    check_has_zone(loader);
    warn_of_tls_everywhere(loader);
    check_ttls(loader);
    check_socket(loader);
    config_check_dnstap(loader);
    config_check_zones(loader);
    config_check_tls(loader);
}
