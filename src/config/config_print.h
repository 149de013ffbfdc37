/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_CONFIG_PRINT_H
#define NAILUP_CONFIG_CONFIG_PRINT_H

/* Prints the value of one row like config_print() (config/config.h). Internal to config. */

#include "config/config.h"
#include "config/options.h"

/* Appends the text after the colon and a newline: " 53\n", " [127.0.0.1@53]\n", or one item per
 * line after a newline; " not given\n" where that differs from the default. Not for rows of items.
 * Errors as in config_print(). */
MUST_USE enum err config_print_value(const struct config *config, const struct option *option,
                                     struct buf *out);

#endif
