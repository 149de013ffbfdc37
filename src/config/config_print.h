/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_CONFIG_PRINT_H
#define NAILUP_CONFIG_CONFIG_PRINT_H

/* The value of one row, as config_print() of config/config.h writes it. Used inside config only. */

#include "config/config.h"
#include "config/options.h"

/* Appends what stands behind the colon and a newline: " 53\n", " [127.0.0.1@53]\n", or items on
 * lines of their own behind a newline; " not given\n" where that means something else than the
 * default. Not for rows of items. Errors as with config_print(). */
MUST_USE enum err config_print_value(const struct config *config, const struct option *option,
                                     struct buf *out);

#endif
