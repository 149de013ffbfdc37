/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_CONFIG_RPZ_H
#define NAILUP_CONFIG_CONFIG_RPZ_H

/* Makes the response policy of the zones in the file. */

#include <stdbool.h>

#include "config/loader.h"

/* Reads the zones' files unless with_files is false, and sets config->rpz.policy. Reports errors of
 * the files. */
void config_rpz(struct loader *loader, bool with_files);

#endif
