/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Lists of addresses, prefixes, names and words. A list is read to its end even after an error, so
 * that every error is reported.
 */
#include "config/load_lists.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/prefix.h"
#include "config/kind.h"
#include "config/load_scalar.h"
#include "dns/name.h"
#include "local/name_map.h"
#include "tap/dnstap.h"

/* ---- addresses ---- */

/* The text before the '#' is a valid address, so the text after it is wrong. */
static bool has_wrong_name(const char *text)
{
    char before[ADDR_TEXT_MAX];
    struct addr addr;
    size_t len = strcspn(text, "#");
    if (text[len] != '#' || len >= sizeof(before))
        return false;
    snprintf(before, sizeof(before), "%.*s", (int)len, text);
    return addr_parse(&addr, before, 0) == ERR_OK;
}

/* takes_host: a host name is allowed here too, but the text is not one (config/host_text.h). */
static const char *address_hint(const char *text, bool takes_host)
{
    if (has_wrong_name(text))
        return "; the text after the # is not a host name";
    if (*addr_zone_hint(text))
        return addr_zone_hint(text);
    if (strchr(text, ']'))
        return "; write it without brackets, and the port after an @";
    if (strchr(text, '/'))
        return "; a prefix is not allowed here";
    if (strspn(text, "0123456789.") < strcspn(text, ":") &&
        strspn(text, "0123456789.:@") < strcspn(text, "#"))
        return takes_host ? "; a host name has a dot, as in dns.example.net or router."
                          : "; names are not looked up";
    if (strchr(text, '.') && strchr(text, ':'))
        return "; write the port after an @";
    return "";
}

static void report_address(struct loader *loader, const struct yaml_tree_node *node,
                           bool takes_host)
{
    loader_error_takes(loader, node, "an address such as 192.0.2.53, 192.0.2.53@5353 or \"::1@53\"",
                       address_hint(node->text, takes_host));
}

static bool load_is_multicast(const struct addr *addr)
{
    size_t len;
    const uint8_t *bytes = addr_bytes(addr, &len);
    return len == 4 ? bytes[0] >= 224 : bytes[0] == 0xff;
}

static bool is_fit(struct loader *loader, const struct yaml_tree_node *node,
                   const struct load_address_use *use, const struct addr *addr)
{
    if (use->is_reached && addr_lacks_zone(addr)) {
        loader_error(loader, node,
                     "%s exists on every link; add the interface, as in fe80::1%%eth0", node->text);
        return false;
    }
    if (!load_is_multicast(addr) && (use->takes_any || !addr_is_any(addr)))
        return true;
    loader_error(loader, node, "%s is not an address of %s", node->text, use->whose);
    return false;
}

bool load_address(struct loader *loader, const struct yaml_tree_node *node,
                  const struct load_address_use *use, struct addr *out, bool *has_port,
                  char name[ADDR_NAME_MAX])
{
    if (node->broken)
        return false;
    if (node->kind != TREE_SCALAR ||
        addr_parse_named(out, has_port, name, node->text, use->default_port) != ERR_OK) {
        report_address(loader, node, use->takes_name);
        return false;
    }
    if (*name && !use->takes_name) {
        loader_error(loader, node,
                     "has a name (#%.60s), which only upstreams may have; leave it out", name);
        return false;
    }
    if (*has_port && addr_port(out) == 0) {
        loader_error(loader, node, "has port 0; write 1 to 65535");
        return false;
    }
    return is_fit(loader, node, use, out);
}

static bool is_listed(const struct addr *list, size_t count, const struct addr *addr)
{
    for (size_t i = 0; i < count; i++)
        if (addr_equal(&list[i], addr))
            return true;
    return false;
}

/* Reads addresses into *out. Returns the number of valid ones. */
static size_t load_addresses(struct loader *loader, const struct yaml_tree_node *node,
                             const struct load_address_use *use, struct addr **out)
{
    size_t count = 0, index = 0;
    struct addr *list = loader_take(loader, node->count, sizeof(*list));
    for (const struct yaml_tree_node *item = node->first; list && item; item = item->next) {
        char name[ADDR_NAME_MAX];
        bool has_port;
        struct addr addr;
        size_t mark = loader_enter_item(loader, index++);
        if (load_address(loader, item, use, &addr, &has_port, name)) {
            if (is_listed(list, count, &addr))
                loader_error(loader, item, "%s is given twice; keep one of them", item->text);
            else
                list[count++] = addr;
        }
        loader_leave(loader, mark);
    }
    *out = list;
    return count;
}

void load_listen(struct loader *loader, const struct option *option,
                 const struct yaml_tree_node *node)
{
    static const struct load_address_use plain = {.default_port = DNS_PORT,
                                                  .takes_any = true,
                                                  .is_reached = true,
                                                  .whose = "a single machine"};
    static const struct load_address_use tls = {.default_port = DNS_TLS_PORT,
                                                .takes_any = true,
                                                .is_reached = true,
                                                .whose = "a single machine"};
    static const struct load_address_use https = {.default_port = DNS_HTTPS_PORT,
                                                  .takes_any = true,
                                                  .is_reached = true,
                                                  .whose = "a single machine"};
    struct server_options *server = &loader->config->server;
    if (!loader_list_fits(loader, option, node))
        return;
    if (option->kind == KIND_LISTEN_HTTPS)
        server->listen_https_count = load_addresses(loader, node, &https, &server->listen_https);
    else if (option->kind == KIND_LISTEN_TLS)
        server->listen_tls_count = load_addresses(loader, node, &tls, &server->listen_tls);
    else
        server->listen_count = load_addresses(loader, node, &plain, &server->listen);
}

void load_servers(struct loader *loader, const struct option *option,
                  const struct yaml_tree_node *node, struct config_servers *servers)
{
    static const struct load_address_use use = {
        .default_port = DNS_PORT, .is_reached = true, .whose = "a single server"};
    if (loader_list_fits(loader, option, node))
        servers->count = load_addresses(loader, node, &use, &servers->list);
}

/* ---- source addresses ---- */

/* The entries of server.outgoing, by IP version. */
struct source_lists {
    struct prefix v4[SOURCES_MAX], v6[SOURCES_MAX];
    unsigned v4_count, v6_count;
};

static bool load_source_address(struct loader *loader, const struct yaml_tree_node *node,
                                struct prefix *out)
{
    static const struct load_address_use use = {.takes_any = true,
                                                .is_reached = true,
                                                .whose =
                                                    "this machine; without one the system chooses"};
    char name[ADDR_NAME_MAX];
    bool has_port;
    if (!load_address(loader, node, &use, &out->addr, &has_port, name))
        return false;
    out->length = addr_family(&out->addr) == AF_INET6 ? 128 : 32;
    addr_set_port(&out->addr, 0);
    if (has_port)
        loader_error(loader, node,
                     "%s has a port; leave it out, because each query uses a new port", node->text);
    else if (addr_is_any(&out->addr))
        loader_error(loader, node, "%s is not an address of %s", node->text, use.whose);
    else
        return true;
    return false;
}

/* Whether an address is in the prefix and in the other one, which is our own text. */
static bool shares_addresses(const struct prefix *prefix, const char *with)
{
    struct prefix other;
    MUST(prefix_parse(&other, with) == ERR_OK);
    return prefix_contains(prefix, &other.addr) || prefix_contains(&other, &prefix->addr);
}

/* Multicast and reserved addresses, and the address that means any. */
static bool has_unusable_address(const struct prefix *prefix)
{
    return addr_is_any(&prefix->addr) || shares_addresses(prefix, "224.0.0.0/3") ||
           shares_addresses(prefix, "ff00::/8");
}

/* 192.0.2.7/24 may mean one address or all of them, so the file has to say which. */
static bool load_source_prefix(struct loader *loader, const struct yaml_tree_node *node,
                               struct prefix *out)
{
    char text[PREFIX_TEXT_MAX];
    if (prefix_parse(out, node->text) != ERR_OK)
        loader_error_takes(loader, node,
                           "an address such as 192.0.2.7, or a prefix such as 2001:db8::/64", "");
    else if (prefix_clear_host_bits(out))
        loader_error(loader, node,
                     "%s has bits after its prefix; write %s for all addresses of the prefix, or "
                     "leave /%u out for this one address",
                     node->text, prefix_format(out, text), out->length);
    else if (has_unusable_address(out))
        loader_error(loader, node,
                     "%s has addresses that no machine can have; write the prefix that your "
                     "routers send here, such as 2001:db8::/64",
                     node->text);
    else if (shares_addresses(out, "fe80::/10"))
        loader_error(loader, node,
                     "%s has link-local addresses, which need an interface; write single "
                     "addresses, as in fe80::1%%eth0",
                     node->text);
    else
        return true;
    return false;
}

static bool is_source_listed(const struct prefix *list, unsigned count, const struct prefix *prefix)
{
    for (unsigned i = 0; i < count; i++)
        if (prefix_equal(&list[i], prefix))
            return true;
    return false;
}

static void load_source(struct loader *loader, const struct yaml_tree_node *node,
                        struct source_lists *lists)
{
    struct prefix prefix = {.length = 0};
    bool is_prefix = !node->broken && node->kind == TREE_SCALAR && strchr(node->text, '/');
    if (!(is_prefix ? load_source_prefix : load_source_address)(loader, node, &prefix))
        return;
    bool is_v6 = addr_family(&prefix.addr) == AF_INET6;
    struct prefix *list = is_v6 ? lists->v6 : lists->v4;
    unsigned *count = is_v6 ? &lists->v6_count : &lists->v4_count;
    if (is_source_listed(list, *count, &prefix))
        loader_error(loader, node, "%s is given twice; keep one of them", node->text);
    else
        list[(*count)++] = prefix;
}

static struct sources *make_sources(struct loader *loader, const struct prefix *list,
                                    unsigned count)
{
    struct sources *sources = count ? sources_new(list, count) : NULL;
    if (count && !sources)
        problems_no_memory(loader->problems);
    return sources;
}

void load_outgoing(struct loader *loader, const struct option *option,
                   const struct yaml_tree_node *node)
{
    size_t index = 0;
    struct config_outgoing *outgoing = &loader->config->outgoing;
    struct source_lists lists = {.v4_count = 0};
    if (!loader_list_fits(loader, option, node))
        return;
    for (const struct yaml_tree_node *item = node->first; item; item = item->next) {
        size_t mark = loader_enter_item(loader, index++);
        load_source(loader, item, &lists);
        loader_leave(loader, mark);
    }
    outgoing->v4 = make_sources(loader, lists.v4, lists.v4_count);
    outgoing->v6 = make_sources(loader, lists.v6, lists.v6_count);
}

/* ---- access ---- */

static const char access_words[] =
    "allow\0refuse\0drop\0allow-snoop\0"; /* in the order of enum server_access */

_Static_assert(SERVER_ALLOW == 0 && SERVER_REFUSE == 1 && SERVER_DROP == 2 && SERVER_SNOOP == 3,
               "words in the order of enum server_access");

static bool load_access_prefix(struct loader *loader, const struct yaml_tree_node *value,
                               struct config_access *access)
{
    if (value->kind == TREE_SCALAR && prefix_parse(&access->prefix, value->text) == ERR_OK)
        return true;
    const char *hint = value->kind == TREE_SCALAR ? addr_zone_hint(value->text) : "";
    loader_error_takes(loader, value, kind_takes(KIND_PREFIX), hint);
    return false;
}

static bool load_access_action(struct loader *loader, const struct yaml_tree_node *value,
                               struct config_access *access)
{
    int word = load_word(loader, value, access_words, "allow, allow-snoop, refuse or drop");
    if (word < 0)
        return false;
    access->action = (enum server_access)word;
    return true;
}

static bool load_access_key(struct loader *loader, const struct yaml_tree_node *value,
                            struct config_access *access)
{
    size_t mark = loader_enter(loader, value->key->text);
    bool fine = false;
    if (strcmp(value->key->text, "prefix") == 0)
        fine = !value->broken && load_access_prefix(loader, value, access);
    else if (strcmp(value->key->text, "action") == 0)
        fine = !value->broken && load_access_action(loader, value, access);
    else
        loader_error(loader, value->key, "is unknown; the keys are prefix and action");
    loader_leave(loader, mark);
    return fine;
}

static bool load_access_item(struct loader *loader, const struct yaml_tree_node *item,
                             struct config_access *access)
{
    bool fine = !item->cut;
    if (item->broken)
        return false;
    if (item->kind != TREE_MAP) {
        loader_error_takes(loader, item, "a mapping such as {prefix: 10.0.0.0/8, action: allow}",
                           "");
        return false;
    }
    for (const struct yaml_tree_node *value = item->first; value; value = value->next)
        fine &= load_access_key(loader, value, access);
    for (int i = 0; i < 2; i++) {
        const char *key = i ? "action" : "prefix";
        if (!item->cut && !yaml_tree_find(item, key)) {
            loader_error(loader, item, "has no %s; write {prefix: 10.0.0.0/8, action: allow}", key);
            fine = false;
        }
    }
    return fine;
}

static void add_access(struct loader *loader, const struct yaml_tree_node *item,
                       const struct config_access *access)
{
    struct config *config = loader->config;
    char text[PREFIX_TEXT_MAX];
    enum err err = prefix_set_add(config->server.access, &access->prefix, (int)access->action);
    if (err == ERR_INVALID)
        loader_error(loader, item, "%s is given twice; keep one of them",
                     prefix_format(&access->prefix, text));
    else if (err)
        problems_no_memory(loader->problems);
    else
        config->access[config->access_count++] = *access;
}

void load_access(struct loader *loader, const struct option *option,
                 const struct yaml_tree_node *node)
{
    size_t index = 0;
    struct config *config = loader->config;
    if (!loader_list_fits(loader, option, node))
        return;
    prefix_set_free(config->server.access);
    config->server.access = prefix_set_new();
    config->access = loader_take(loader, node->count, sizeof(*config->access));
    config->access_count = 0;
    if (!config->server.access || !config->access) {
        problems_no_memory(loader->problems);
        return;
    }
    for (const struct yaml_tree_node *item = node->first; item; item = item->next) {
        struct config_access access = {0};
        size_t mark = loader_enter_item(loader, index++);
        if (load_access_item(loader, item, &access))
            add_access(loader, item, &access);
        loader_leave(loader, mark);
    }
    if (prefix_set_freeze(config->server.access))
        problems_no_memory(loader->problems);
}

/* ---- prefixes ---- */

/* Addresses in records: there, an IPv4-mapped address is not an IPv4 address. */
static bool keeps_mapped(const struct config *config, const struct config_prefixes *prefixes)
{
    return prefixes == &config->private_addresses || prefixes == &config->dns64_exclude;
}

static void load_prefix(struct loader *loader, const struct yaml_tree_node *item,
                        struct config_prefixes *prefixes)
{
    struct prefix *prefix = &prefixes->list[prefixes->count];
    char text[PREFIX_TEXT_MAX];
    if (item->broken)
        return;
    bool is_fine =
        item->kind == TREE_SCALAR && (keeps_mapped(loader->config, prefixes)
                                          ? prefix_parse_unmapped(prefix, item->text) == ERR_OK
                                          : prefix_parse(prefix, item->text) == ERR_OK);
    if (!is_fine) {
        loader_error_takes(loader, item, kind_takes(KIND_PREFIX),
                           item->kind == TREE_SCALAR ? addr_zone_hint(item->text) : "");
        return;
    }
    enum err err = prefix_set_add(prefixes->set, prefix, 0);
    if (err == ERR_INVALID)
        loader_error(loader, item, "%s is given twice; keep one of them",
                     prefix_format(prefix, text));
    else if (err)
        problems_no_memory(loader->problems);
    else
        prefixes->count++;
}

void load_prefixes(struct loader *loader, const struct option *option,
                   const struct yaml_tree_node *node, struct config_prefixes *prefixes)
{
    size_t index = 0;
    if (!loader_list_fits(loader, option, node))
        return;
    prefix_set_free(prefixes->set);
    prefixes->set = prefix_set_new();
    prefixes->list = loader_take(loader, node->count, sizeof(struct prefix));
    prefixes->count = 0;
    if (!prefixes->set || !prefixes->list) {
        problems_no_memory(loader->problems);
        return;
    }
    for (const struct yaml_tree_node *item = node->first; item; item = item->next) {
        size_t mark = loader_enter_item(loader, index++);
        load_prefix(loader, item, prefixes);
        loader_leave(loader, mark);
    }
    if (prefix_set_freeze(prefixes->set))
        problems_no_memory(loader->problems);
}

/* ---- names ---- */

static void load_name(struct loader *loader, const struct yaml_tree_node *item,
                      struct config_names *names)
{
    char text[KIND_TEXT_MAX];
    uint8_t *wire = names->list[names->count];
    struct name name;
    uint32_t *number;
    if (item->broken)
        return;
    if (item->kind != TREE_SCALAR ||
        !kind_parse(KIND_ZONE_NAME, item->text, &loader->config->arena, wire)) {
        loader_error_takes(loader, item, kind_takes(KIND_ZONE_NAME), "");
        return;
    }
    MUST(name_view(span_of(wire, NAME_WIRE_MAX), 0, &name) != 0);
    if (name_map_find(names->map, name))
        loader_error(loader, item, "%s is given twice; keep one of them",
                     kind_format(KIND_ZONE_NAME, wire, text));
    else if (name_map_put(names->map, name, 0, &number))
        problems_no_memory(loader->problems);
    else
        names->count++;
}

void load_names(struct loader *loader, const struct option *option,
                const struct yaml_tree_node *node, struct config_names *names)
{
    size_t index = 0;
    if (!loader_list_fits(loader, option, node))
        return;
    name_map_free(names->map);
    *names = (struct config_names){0};
    if (!node->count)
        return;
    names->map = name_map_new();
    names->list = loader_take(loader, node->count, NAME_WIRE_MAX);
    if (!names->map || !names->list) {
        problems_no_memory(loader->problems);
        return;
    }
    for (const struct yaml_tree_node *item = node->first; item; item = item->next) {
        size_t mark = loader_enter_item(loader, index++);
        load_name(loader, item, names);
        loader_leave(loader, mark);
    }
}

/* ---- kinds of dnstap messages ---- */

/* The bit of a message kind; 0 after an error. */
static uint32_t load_message(struct loader *loader, const struct yaml_tree_node *item)
{
    int word = load_word(loader, item, DNSTAP_MESSAGE_WORDS,
                         "client-query, client-response, forwarder-query, forwarder-response, "
                         "resolver-query or resolver-response");
    return word < 0 ? 0 : UINT32_C(1) << word;
}

void load_dnstap_messages(struct loader *loader, const struct option *option,
                          const struct yaml_tree_node *node, uint32_t *field)
{
    size_t index = 0;
    uint32_t messages = 0;
    if (!loader_list_fits(loader, option, node))
        return;
    for (const struct yaml_tree_node *item = node->first; item; item = item->next) {
        size_t mark = loader_enter_item(loader, index++);
        uint32_t bit = item->broken ? 0 : load_message(loader, item);
        if (messages & bit)
            loader_error(loader, item, "is given twice; keep one of them");
        messages |= bit;
        loader_leave(loader, mark);
    }
    *field = messages;
}
