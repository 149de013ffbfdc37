/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_LOAD_UPSTREAMS_H
#define NAILUP_CONFIG_LOAD_UPSTREAMS_H

/* The upstreams of a zone, the primaries of a zone held here, and pins of their keys. */

#include "config/loader.h"

void load_upstreams(struct loader *loader, const struct option *option,
                    const struct yaml_tree_node *node, struct config_zone *zone);
/* source begins with the field of the row (options.def). */
void load_primaries(struct loader *loader, const struct option *option,
                    const struct yaml_tree_node *node, struct config_source *source);
void load_pins(struct loader *loader, const struct option *option,
               const struct yaml_tree_node *node, struct tls_pins **field);

#endif
