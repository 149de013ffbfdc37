/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads tsig-keys, and joins them with the primaries of zones.
 * Invariant: a primary that names a key has that key, and a key has a secret, or the file has an
 * error.
 */
#include "config/load_tsig_keys.h"

#include <string.h>

#include "base/check.h"
#include "config/base64.h"
#include "config/load_mapping.h"
#include "config/place.h"
#include "config/secret_file.h"

enum { SECRET_TEXT_MAX = 1024, PORT_DNS = 53, PORT_TLS = 853 };

/* ---- keys ---- */

static struct name tsig_key_name(const struct config_tsig_key *key)
{
    return (struct name){key->wire, key->name_len};
}

static struct config_tsig_key *find_tsig_key(const struct config *config, struct name name)
{
    for (size_t i = 0; i < config->tsig_key_count; i++)
        if (name_equal(tsig_key_name(&config->tsig_keys[i]), name))
            return &config->tsig_keys[i];
    return NULL;
}

static void load_tsig_key(struct loader *loader, const struct yaml_tree_node *node)
{
    struct config *config = loader->config;
    struct config_tsig_key key = {.position = node->position};
    const struct loader_place place = {.prefix = "tsig-keys[].", .owner = &key};
    char text[KIND_TEXT_MAX];
    struct name name;
    if (!load_item(loader, node, &place,
                   "a mapping such as {name: transfer.example, secret-file: "
                   "/etc/nailup/transfer.secret}"))
        return;
    MUST(name_view(span_of(key.wire, NAME_WIRE_MAX), 0, &name) != 0);
    key.name_len = name.len;
    if (find_tsig_key(config, name))
        loader_error(loader, node, "key %.100s is given twice; keep one of them",
                     kind_format(KIND_ZONE_NAME, key.wire, text));
    else
        config->tsig_keys[config->tsig_key_count++] = key;
}

void load_tsig_keys(struct loader *loader, const struct option *option,
                    const struct yaml_tree_node *node)
{
    struct config *config = loader->config;
    size_t index = 0;
    if (!loader_list_fits(loader, option, node))
        return;
    config->tsig_keys = loader_take(loader, node->count, sizeof(*config->tsig_keys));
    for (const struct yaml_tree_node *item = node->first; config->tsig_keys && item;
         item = item->next) {
        size_t mark = loader_enter_item(loader, index++);
        load_tsig_key(loader, item);
        loader_leave(loader, mark);
    }
}

/* Makes the key from the text of its file. Returns false when that is no secret. */
static bool secret_parse(struct config_tsig_key *key, const char *text, size_t len)
{
    char algorithm[KIND_TEXT_MAX];
    uint8_t secret[TSIG_SECRET_MAX];
    size_t secret_len;
    while (len > 0 && strchr(" \t\r\n", text[len - 1]))
        len--;
    kind_format(KIND_TSIG_ALGORITHM, &key->algorithm, algorithm);
    bool is_fine = base64_read(text, len, secret, sizeof(secret), &secret_len) &&
                   tsig_key_make(&key->key, tsig_key_name(key), algorithm,
                                 span_of(secret, secret_len)) == ERR_OK;
    tsig_hmac_wipe(secret, sizeof(secret));
    return is_fine;
}

static void read_tsig_secret(struct loader *loader, size_t index)
{
    struct config_tsig_key *key = &loader->config->tsig_keys[index];
    const struct place place = {"tsig-keys", true, key->position, index};
    char text[SECRET_TEXT_MAX];
    const char *why;
    ssize_t len = secret_file_read(key->file, text, sizeof(text), &why);
    if (len < 0)
        place_error(loader, &place, "secret-file", "%.200s: %s", key->file, why);
    else if (!secret_parse(key, text, (size_t)len))
        place_error(loader, &place, "secret-file",
                    "%.200s: not a secret of 1 to %d bytes in base64; write the text after the "
                    "word secret that tsig-keygen prints, without quotes",
                    key->file, TSIG_SECRET_MAX);
    tsig_hmac_wipe(text, sizeof(text));
}

void tsig_keys_wipe(struct config *config)
{
    for (size_t i = 0; i < config->tsig_key_count; i++)
        tsig_key_wipe(&config->tsig_keys[i].key);
}

/* ---- primaries ---- */

/* Finds the key that a primary names. False after an error. */
static bool find_primary_key(struct loader *loader, const struct place *place,
                             const struct config_upstream *primary, const struct tsig_key **key)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    if (!primary->tsig_key || !*primary->tsig_key)
        return true;
    struct config_tsig_key *found = NULL;
    if (name_parse(&name, wire, primary->tsig_key, strlen(primary->tsig_key)) == ERR_OK)
        found = find_tsig_key(loader->config, name);
    if (found)
        *key = &found->key;
    else
        place_error(loader, place, "primaries",
                    "the key %.100s is not in tsig-keys; add it there or correct the name",
                    primary->tsig_key);
    return found != NULL;
}

static bool make_server(struct loader *loader, const struct place *place,
                        const struct config_upstream *primary, struct xfr_primary *out)
{
    const struct tls_peer_options *tls = &loader->config->upstream.tls;
    out->addr = primary->addr;
    out->has_tls = primary->tls || primary->pins || *primary->auth_name ||
                   (primary->has_port && addr_port(&primary->addr) == PORT_TLS);
    if (!primary->has_port)
        addr_set_port(&out->addr, out->has_tls ? PORT_TLS : PORT_DNS);
    if (out->has_tls)
        out->tls = (struct tls_peer_options){.profile = TLS_STRICT,
                                             .auth_name = primary->auth_name,
                                             .pins = primary->pins,
                                             .ca_bundle = tls->ca_bundle,
                                             .certificate = tls->certificate,
                                             .key = tls->key,
                                             .ciphers = tls->ciphers,
                                             .groups = tls->groups};
    return find_primary_key(loader, place, primary, &out->key);
}

static void make_servers(struct loader *loader, const struct place *place,
                         struct config_source *source)
{
    source->servers = loader_take(loader, source->primary_count, sizeof(*source->servers));
    for (size_t i = 0; source->servers && i < source->primary_count; i++)
        if (!make_server(loader, place, &source->primaries[i], &source->servers[i]))
            return;
}

/* Reports a name that is in auth-zones too. A NOTIFY, and the stored copy of a zone, identify the
 * zone by its name alone. */
static void check_name(struct loader *loader, const struct place *place, struct name name)
{
    const struct config *config = loader->config;
    for (size_t i = 0; i < config->auth_zone_count; i++)
        if (name_equal((struct name){config->auth_zones[i].wire, config->auth_zones[i].name_len},
                       name))
            place_error(loader, place, "primaries",
                        "a zone of auth-zones has the same name; keep one of them");
}

static void make_policy_servers(struct loader *loader, size_t index)
{
    struct config_rpz_zone *zone = &loader->config->rpz.zones[index];
    const struct place place = {"rpz", true, zone->position, index};
    if (zone->source.primary_count > 0)
        check_name(loader, &place, (struct name){zone->options.wire, zone->options.name_len});
    make_servers(loader, &place, &zone->source);
}

void config_check_primaries(struct loader *loader)
{
    for (size_t i = 0; loader->with_files && i < loader->config->tsig_key_count; i++)
        read_tsig_secret(loader, i);
    for (size_t i = 0; i < loader->config->auth_zone_count; i++) {
        struct config_auth_zone *zone = &loader->config->auth_zones[i];
        const struct place place = {"auth-zones", true, zone->position, i};
        make_servers(loader, &place, &zone->source);
    }
    for (size_t i = 0; i < loader->config->rpz.count; i++)
        make_policy_servers(loader, i);
}
