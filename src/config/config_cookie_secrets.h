/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_CONFIG_COOKIE_SECRETS_H
#define NAILUP_CONFIG_CONFIG_COOKIE_SECRETS_H

#include "config/loader.h"

/* Reads the secrets of server.cookie-secret-file into the configuration. */
void config_read_cookie_secrets(struct loader *loader);

#endif
