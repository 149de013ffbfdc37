/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_IMPORT_UNBOUND_MAP_H
#define NAILUP_IMPORT_UNBOUND_MAP_H

/*
 * Converts statements of unbound.conf to values of a nailup.yaml. Some depend on others (interfaces
 * on a port), so all are collected first, and unbound_map_end() converts these.
 */

#include "import/unbound_map_state.h"

void unbound_map_init(struct unbound_map_state *map, struct draft *draft,
                      struct unbound_source *source);

/* Takes a statement. Its strings live as long as the draft. */
void unbound_map_take(struct unbound_map_state *map, const struct unbound_statement *statement);

/* Converts the values that waited, when everything is read. */
void unbound_map_end(struct unbound_map_state *map);

#endif
