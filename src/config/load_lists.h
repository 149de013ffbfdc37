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
void load_prefixes(struct loader *loader, const struct option *option,
                   const struct yaml_tree_node *node, struct config_prefixes *prefixes);
void load_names(struct loader *loader, const struct option *option,
                const struct yaml_tree_node *node, struct config_names *names);
void load_dnstap_messages(struct loader *loader, const struct option *option,
                          const struct yaml_tree_node *node, uint32_t *field);

/* What an address is for: its port when none is given, whether a name may stand behind it, and
 * which addresses it may be. */
struct load_address_use {
    bool is_reached; /* bound or connected to: a link-local one needs its zone */
    uint16_t default_port;
    bool takes_name;
    bool takes_any;    /* 0.0.0.0 and :: */
    const char *whose; /* completes "is no address of ..." */
};
/* One address; has_port says whether one was written, name is "" where none is. False after an
 * error. */
bool load_address(struct loader *loader, const struct yaml_tree_node *node,
                  const struct load_address_use *use, struct addr *out, bool *has_port,
                  char name[ADDR_NAME_MAX]);

#endif
