/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_CONFIG_ACCOUNTS_H
#define NAILUP_CONFIG_CONFIG_ACCOUNTS_H

#include "config/loader.h"

/* Fills run_as and control_account from the users and groups of the system. */
void config_find_accounts(struct loader *loader);

#endif
