/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_LOAD_TSIG_KEYS_H
#define NAILUP_CONFIG_LOAD_TSIG_KEYS_H

/* Keys of zone transfers, and the primaries that use them. */

#include "config/loader.h"

void load_tsig_keys(struct loader *loader, const struct option *option,
                    const struct yaml_tree_node *node);

/* Reads the secrets if files are read, and makes the servers of each zone of auth-zones, whose
 * primaries may name keys that come later in the file. */
void config_check_primaries(struct loader *loader);

/* Overwrites the secrets. */
void tsig_keys_wipe(struct config *config);

#endif
