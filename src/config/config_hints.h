/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_CONFIG_HINTS_H
#define NAILUP_CONFIG_CONFIG_HINTS_H

#include "config/loader.h"

/* Reads the file of recursion.root-hints into the configuration. */
void config_read_hints(struct loader *loader);

/* Warns if recursion.do-not-query leaves no root server to ask. */
void config_warn_of_hints(struct loader *loader);

#endif
