/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_INCLUDE_H
#define NAILUP_CONFIG_INCLUDE_H

#include "config/loader.h"

struct includes;

/* Reads the files that include: names and adds their nodes to the tree. Adds errors to the
 * problems; NULL: no includes, or out of memory. The nodes live until includes_free(). */
struct includes *include_files(struct loader *loader, struct yaml_tree *tree, size_t bytes);

/* NULL is fine. */
void includes_free(struct includes *includes);

#endif
