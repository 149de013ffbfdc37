/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads the upstreams of a zone: addresses and host names with the names for TLS, and pins of keys.
 * config_check_tls.c checks whether a name fits the transport.
 */
#include "config/load_upstreams.h"

#include <string.h>

#include "config/host_text.h"
#include "config/load_lists.h"
#include "config/load_scalar.h"
#include "config/pin.h"

/* ---- addresses ---- */

static bool is_same_upstream(const struct config_upstream *a, const struct config_upstream *b)
{
    return a->has_port == b->has_port && addr_equal(&a->addr, &b->addr);
}

/* The servers of a zone so far. */
struct server_list {
    struct config_upstream *list;
    size_t count;
    struct config_upstream *hosts; /* the servers by host name; NULL: none so far */
    size_t host_count;
    size_t most; /* items in the file */
    bool is_of_primaries;
};

static bool has_host_already(const struct server_list *servers, const struct config_upstream *host)
{
    for (size_t i = 0; i < servers->host_count; i++)
        if (strcmp(servers->hosts[i].host, host->host) == 0 &&
            servers->hosts[i].host_port == host->host_port)
            return true;
    return false;
}

static bool has_upstream_already(const struct server_list *servers,
                                 const struct config_upstream *upstream)
{
    if (upstream->host)
        return has_host_already(servers, upstream);
    for (size_t i = 0; i < servers->count; i++)
        if (is_same_upstream(&servers->list[i], upstream))
            return true;
    return false;
}

/* nailupd would send an address in place of a name as SNI, which RFC 6066 section 3 forbids, and no
 * certificate would match it. */
static bool check_tls_name(struct loader *loader, const struct yaml_tree_node *node,
                           const char *name)
{
    struct addr addr;
    if (addr_parse(&addr, name, 0) != ERR_OK)
        return true;
    loader_error(loader, node,
                 "has the address %s after the #; leave it out: without a name the certificate "
                 "must match the address",
                 name);
    return false;
}

static bool load_tls_name(struct loader *loader, const char *name, char **out)
{
    char folded[ADDR_NAME_MAX] = "";
    if (*name && !kind_parse_host_name(name, folded))
        return false;
    *out = arena_copy(&loader->config->arena, folded, strlen(folded) + 1);
    if (!*out)
        problems_no_memory(loader->problems);
    return *out != NULL;
}

/* YAML reads the name in "192.0.2.53 #name" as a comment, so the certificate would not be checked
 * against it.
 */
static void warn_of_comment(struct loader *loader, const struct yaml_tree_node *item)
{
    char name[ADDR_NAME_MAX], quoted[PROBLEM_QUOTE_MAX];
    if (item->comment && kind_parse_host_name(item->comment, name))
        loader_warn_node(loader, item,
                         "#%s is a comment, because a space precedes it; for the name of the "
                         "server write %.60s#%s",
                         problem_quote(name, strlen(name), quoted), item->text, quoted);
}

static bool load_upstream_address(struct loader *loader, const struct yaml_tree_node *item,
                                  struct config_upstream *upstream)
{
    static const struct load_address_use use = {
        .takes_name = true, .is_reached = true, .whose = "a single server"};
    char name[ADDR_NAME_MAX];
    if (!load_address(loader, item, &use, &upstream->addr, &upstream->has_port, name) ||
        !check_tls_name(loader, item, name) || !load_tls_name(loader, name, &upstream->auth_name))
        return false;
    warn_of_comment(loader, item);
    return true;
}

/* ---- names ---- */

/* Remembers the name once. NULL: an error was reported. */
static char *keep_host(struct loader *loader, const struct yaml_tree_node *item, const char *name)
{
    struct config *config = loader->config;
    char *copy = arena_copy(&config->arena, name, strlen(name) + 1);
    for (size_t i = 0; i < config->host_count; i++)
        if (strcmp(config->hosts[i], name) == 0)
            return copy;
    if (!copy)
        problems_no_memory(loader->problems);
    else if (config->host_count == CONFIG_HOSTS_MAX) {
        loader_error(loader, item, "is one host name too many; use at most %d, or addresses",
                     CONFIG_HOSTS_MAX);
        return NULL;
    } else
        config->hosts[config->host_count++] = copy;
    return copy;
}

static bool load_upstream_host(struct loader *loader, const struct yaml_tree_node *item,
                               const struct host_text *text, struct config_upstream *upstream)
{
    upstream->host = keep_host(loader, item, text->name);
    upstream->host_port = text->port;
    upstream->auth_name =
        arena_copy(&loader->config->arena, text->auth_name, strlen(text->auth_name) + 1);
    if (upstream->host && !upstream->auth_name)
        problems_no_memory(loader->problems);
    return upstream->host && upstream->auth_name;
}

/* A primary has an address: nothing resolves names for the keeper of zones. */
static bool load_upstream_of(struct loader *loader, const struct yaml_tree_node *item,
                             struct config_upstream *upstream, bool is_primary)
{
    struct host_text text;
    if (!is_primary && item->kind == TREE_SCALAR && !item->broken &&
        host_text_parse(&text, item->text))
        return load_upstream_host(loader, item, &text, upstream);
    return load_upstream_address(loader, item, upstream);
}

/* ---- servers ---- */

/* A mapping gives the proofs of one server: {address: 192.0.2.53, auth-name: a.example, pin-sha256:
 * []}. */
static bool load_upstream_mapping(struct loader *loader, const struct yaml_tree_node *item,
                                  struct config_upstream *upstream, bool is_primary)
{
    char *name = NULL;
    bool is_fine = !item->cut;
    for (const struct yaml_tree_node *value = item->first; value; value = value->next) {
        const char *key = value->key->text;
        size_t mark = loader_enter(loader, key);
        if (value->broken)
            is_fine = false;
        else if (strcmp(key, "address") == 0)
            is_fine &= load_upstream_of(loader, value, upstream, is_primary);
        else if (strcmp(key, "auth-name") == 0)
            is_fine &= load_scalar_into(loader, value, KIND_HOST_NAME, &name);
        else if (strcmp(key, "pin-sha256") == 0)
            load_pins(loader, options_find("upstream.pin-sha256"), value, &upstream->pins);
        else if (is_primary && strcmp(key, "tls") == 0)
            is_fine &= load_scalar_into(loader, value, KIND_BOOL, &upstream->tls);
        else if (is_primary && strcmp(key, "tsig-key") == 0)
            is_fine &= load_scalar_into(loader, value, KIND_TEXT, &upstream->tsig_key);
        else {
            loader_error(loader, value->key, "is unknown; the keys are address, %s",
                         is_primary ? "auth-name, pin-sha256, tls and tsig-key"
                                    : "auth-name and pin-sha256");
            is_fine = false;
        }
        loader_leave(loader, mark);
    }
    if (!item->cut && !yaml_tree_find(item, "address")) {
        loader_error(loader, item,
                     "has no address; write {address: 192.0.2.53, auth-name: "
                     "dns.example}");
        return false;
    }
    if (is_fine && name && *name && *upstream->auth_name) {
        loader_error(loader, item, "has the name %.60s after the # and auth-name too; keep one",
                     upstream->auth_name);
        return false;
    }
    if (is_fine && name && *name)
        upstream->auth_name = name;
    return is_fine;
}

/* Few zones have hosts, so their list is made for the first one. */
static void add_host(struct loader *loader, const struct config_upstream *host,
                     struct server_list *servers)
{
    if (!servers->hosts)
        servers->hosts = loader_take(loader, servers->most, sizeof(*servers->hosts));
    if (servers->hosts)
        servers->hosts[servers->host_count++] = *host;
}

static void load_upstream(struct loader *loader, const struct yaml_tree_node *item,
                          struct server_list *servers)
{
    struct config_upstream upstream = {.position = item->position};
    bool is_primary = servers->is_of_primaries;
    bool is_fine = item->kind == TREE_MAP && !item->broken
                       ? load_upstream_mapping(loader, item, &upstream, is_primary)
                       : load_upstream_of(loader, item, &upstream, is_primary);
    char text[ADDR_TEXT_MAX];
    if (!is_fine)
        return;
    if (has_upstream_already(servers, &upstream))
        loader_error(loader, item, "%s is given twice; keep one of them",
                     upstream.host            ? upstream.host
                     : item->kind == TREE_MAP ? addr_format_ip(&upstream.addr, text)
                                              : item->text);
    else if (upstream.host)
        add_host(loader, &upstream, servers);
    else
        servers->list[servers->count++] = upstream;
}

static void load_server_list(struct loader *loader, const struct option *option,
                             const struct yaml_tree_node *node, struct server_list *servers)
{
    size_t index = 0;
    if (!loader_list_fits(loader, option, node))
        return;
    servers->most = node->count;
    servers->list = loader_take(loader, servers->most, sizeof(*servers->list));
    for (const struct yaml_tree_node *item = node->first; servers->list && item;
         item = item->next) {
        size_t mark = loader_enter_item(loader, index++);
        load_upstream(loader, item, servers);
        loader_leave(loader, mark);
    }
}

void load_upstreams(struct loader *loader, const struct option *option,
                    const struct yaml_tree_node *node, struct config_zone *zone)
{
    struct server_list servers = {0};
    load_server_list(loader, option, node, &servers);
    zone->upstreams = servers.list;
    zone->upstream_count = servers.count;
    zone->hosts = servers.hosts;
    zone->host_count = servers.host_count;
}

_Static_assert(offsetof(struct config_source, primaries) == 0,
               "the field of a row primaries is where its source begins");

void load_primaries(struct loader *loader, const struct option *option,
                    const struct yaml_tree_node *node, struct config_source *source)
{
    struct server_list servers = {.is_of_primaries = true};
    load_server_list(loader, option, node, &servers);
    source->primaries = servers.list;
    source->primary_count = servers.count;
}

/* ---- pins ---- */

static const char *pin_remedy(const char *text)
{
    static const char hex[] = "0123456789abcdefABCDEF:";
    if (strspn(text, hex) == strlen(text) && strlen(text) >= 2 * TLS_PIN_BYTES)
        return "; this is hexadecimal: write base64, and the hash of the public key, not of the "
               "certificate";
    if (strpbrk(text, "-_"))
        return "; its characters are A to Z, a to z, 0 to 9, + and /";
    return "";
}

static bool has_pin(const struct tls_pins *pins, const uint8_t pin[TLS_PIN_BYTES])
{
    for (size_t i = 0; i < pins->count; i++)
        if (memcmp(pins->sha256[i], pin, TLS_PIN_BYTES) == 0)
            return true;
    return false;
}

static void load_pin(struct loader *loader, const struct yaml_tree_node *item,
                     struct tls_pins *pins)
{
    uint8_t pin[TLS_PIN_BYTES];
    if (item->broken)
        return;
    if (item->kind != TREE_SCALAR || !pin_parse(item->text, pin))
        loader_error_takes(loader, item,
                           "the SHA-256 of a public key as 44 characters of base64 that end in =",
                           pin_remedy(item->text));
    else if (has_pin(pins, pin))
        loader_error(loader, item, "is given twice; keep one of them");
    else
        memcpy(pins->sha256[pins->count++], pin, TLS_PIN_BYTES);
}

void load_pins(struct loader *loader, const struct option *option,
               const struct yaml_tree_node *node, struct tls_pins **field)
{
    size_t index = 0;
    *field = NULL;
    if (!loader_list_fits(loader, option, node) || node->count == 0)
        return;
    struct tls_pins *pins =
        loader_take(loader, 1, sizeof(*pins) + node->count * sizeof(pins->sha256[0]));
    for (const struct yaml_tree_node *item = node->first; pins && item; item = item->next) {
        size_t mark = loader_enter_item(loader, index++);
        load_pin(loader, item, pins);
        loader_leave(loader, mark);
    }
    *field = pins;
}
