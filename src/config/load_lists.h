/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_LOAD_LISTS_H
#define NAILUP_CONFIG_LOAD_LISTS_H

/* Lists of addresses, prefixes, names and words. */

#include <stdbool.h>
#include <stdint.h>

#include "config/loader.h"

void load_listen(struct loader *loader, const struct option *option,
                 const struct yaml_tree_node *node);
void load_outgoing(struct loader *loader, const struct option *option,
                   const struct yaml_tree_node *node);
void load_access(struct loader *loader, const struct option *option,
                 const struct yaml_tree_node *node);
void load_servers(struct loader *loader, const struct option *option,
                  const struct yaml_tree_node *node, struct config_servers *servers);
void load_prefixes(struct loader *loader, const struct option *option,
                   const struct yaml_tree_node *node, struct config_prefixes *prefixes);
void load_names(struct loader *loader, const struct option *option,
                const struct yaml_tree_node *node, struct config_names *names);
void load_dnstap_messages(struct loader *loader, const struct option *option,
                          const struct yaml_tree_node *node, uint32_t *field);

/* The use of an address: its default port, whether a name may follow it, and which addresses are
 * allowed. */
struct load_address_use {
    bool is_reached; /* bound or connected to: a link-local address needs its interface */
    uint16_t default_port;
    bool takes_name;
    bool takes_any;    /* 0.0.0.0 and :: */
    const char *whose; /* completes "is not an address of ..." */
};
/* Reads one address. has_port: a port was written; name: "" if it has no name. False after an
 * error. */
bool load_address(struct loader *loader, const struct yaml_tree_node *node,
                  const struct load_address_use *use, struct addr *out, bool *has_port,
                  char name[ADDR_NAME_MAX]);

#endif
