/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* One function for each kind of proof and each kind of chain. A record that the zone lacks is left
 * out: a validator then finds the fault. */
#include "resolve/zone_proof.h"

#include "base/check.h"
#include "dns/rrtype.h"
#include "validate/nsec3.h"
#include "validate/nsec3_hash.h"
#include "zone/zone_data.h"
#include "zone/zone_find.h"

static void proof_add(struct zone_proof *proof, uint32_t node)
{
    for (unsigned i = 0; i < proof->count; i++)
        if (proof->nodes[i] == node)
            return;
    if (node != ZONE_NODE_NONE && proof->count < ZONE_PROOF_MAX)
        proof->nodes[proof->count++] = node;
}

/* ---- NSEC ---- */

static void prove_by_nsec(struct zone_proof *proof, const struct zone_data *data,
                          const struct zone_match *match)
{
    bool has_node = match->node != ZONE_NODE_NONE;
    switch (match->kind) {
    case ZONE_FOUND_REFERRAL:
        proof_add(proof, zone_find_nsec(data, match->node));
        break;
    case ZONE_FOUND_NODATA:
        if (match->is_wildcard || !has_node)
            proof_add(proof, zone_find_nsec(data, match->before));
        if (has_node)
            proof_add(proof, zone_find_nsec(data, match->node));
        else if (match->is_wildcard)
            proof_add(proof, zone_find_wildcard_nsec(data, match->encloser));
        break;
    case ZONE_FOUND_NXDOMAIN:
        proof_add(proof, zone_find_nsec(data, match->before));
        proof_add(proof, zone_find_wildcard_nsec(data, match->encloser));
        break;
    case ZONE_FOUND_DATA:
    case ZONE_FOUND_ALIAS:
    case ZONE_FOUND_DNAME:
        if (match->is_wildcard)
            proof_add(proof, zone_find_nsec(data, match->before));
        break;
    }
}

/* ---- NSEC3 ---- */

/* The chain of a zone, and the hashes that are known of it. */
struct chain {
    struct zone_proof *proof;
    const struct zone_data *data;
    struct nsec3_hashes hashes;
};

/* Returns the node of the record that matches the hash of the name, or of the wildcard below it
 * (*is_match), or spans it. */
static uint32_t chain_find(struct chain *chain, struct name name, bool is_wildcard, bool *is_match)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name owner;
    uint8_t wildcard[NAME_WIRE_MAX];
    *is_match = false;
    if (is_wildcard && !zone_find_wildcard_name(name, wildcard, &name))
        return ZONE_NODE_NONE;
    const uint8_t *hash = nsec3_hash_of(&chain->hashes, name, is_wildcard);
    if (!hash || !nsec3_write_owner(wire, hash, zone_data_origin(chain->data), &owner))
        return ZONE_NODE_NONE;
    return zone_find_nsec3(chain->data, owner, is_match);
}

static void chain_add(struct chain *chain, struct name name, bool is_wildcard)
{
    bool is_match;
    proof_add(chain->proof, chain_find(chain, name, is_wildcard, &is_match));
}

/* Proves the closest encloser: it matches, and the next closer name is spanned. */
static void chain_add_encloser(struct chain *chain, struct name name, struct name encloser)
{
    chain_add(chain, encloser, false);
    chain_add(chain, name_suffix(name, name_label_count(encloser) + 1), false);
}

/* Finds the name or the closest ancestor of it that has a record. A name above an opt-out span may
 * have none. Returns false when the records of the zone are not sound. */
static bool chain_find_provable(struct chain *chain, struct name name, struct name *out)
{
    for (bool is_match;; name = name_parent(name)) {
        uint32_t node = chain_find(chain, name, false, &is_match);
        *out = name;
        if (node == ZONE_NODE_NONE || is_match)
            return is_match;
        if (name.len <= zone_data_origin(chain->data).len)
            return false;
    }
}

/* Proves a name that exists, or the closest ancestor that has a record (RFC 5155 sections 7.2.4 and
 * 7.2.7). */
static void chain_add_name(struct chain *chain, struct name name)
{
    struct name encloser;
    if (!chain_find_provable(chain, name, &encloser))
        return;
    if (encloser.len == name.len)
        chain_add(chain, name, false);
    else
        chain_add_encloser(chain, name, encloser);
}

/* Denies the name and the wildcard below the closest encloser that has a record (RFC 5155 section
 * 7.2.2). */
static void chain_add_absence(struct chain *chain, struct name name, struct name encloser)
{
    if (!chain_find_provable(chain, encloser, &encloser))
        return;
    chain_add_encloser(chain, name, encloser);
    chain_add(chain, encloser, true);
}

static void prove_by_nsec3(struct chain *chain, struct name name, const struct zone_match *match)
{
    struct name encloser = match->encloser;
    switch (match->kind) {
    case ZONE_FOUND_REFERRAL:
        chain_add_name(
            chain, name_suffix(name, name_label_count(zone_find_owner(chain->data, match->node))));
        break;
    case ZONE_FOUND_NODATA:
        if (!match->is_wildcard) {
            chain_add_name(chain, name);
            break;
        }
        chain_add_encloser(chain, name, encloser);
        chain_add(chain, encloser, true);
        break;
    case ZONE_FOUND_NXDOMAIN:
        chain_add_absence(chain, name, encloser);
        break;
    case ZONE_FOUND_DATA:
    case ZONE_FOUND_ALIAS:
    case ZONE_FOUND_DNAME:
        if (match->is_wildcard)
            chain_add(chain, name_suffix(name, name_label_count(encloser) + 1), false);
        break;
    }
}

/* Begins with the parameters of the zone's chain. Returns false when it has none. */
static bool begin_chain(struct chain *chain, unsigned *units_left)
{
    struct zone_nsec3param param;
    if (!zone_find_nsec3param(chain->data, &param))
        return false;
    nsec3_hash_begin(&chain->hashes, param.salt, param.iterations, units_left);
    return true;
}

void zone_proof_find(struct zone_proof *out, const struct zone_data *data, struct name name,
                     const struct zone_match *match, unsigned *units_left)
{
    struct chain chain = {.proof = out, .data = data};
    out->count = 0;
    out->type = RRTYPE_NSEC3;
    if (begin_chain(&chain, units_left)) {
        prove_by_nsec3(&chain, name, match);
        return;
    }
    out->type = RRTYPE_NSEC;
    prove_by_nsec(out, data, match);
}
