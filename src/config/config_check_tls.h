/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_CONFIG_CHECK_TLS_H
#define NAILUP_CONFIG_CONFIG_CHECK_TLS_H

#include "config/loader.h"

/* Reports contradictions about TLS. Reads no file. */
void config_check_tls(struct loader *loader);

/* Reports contradictions about TLS only in the zones of loader->config. Reads no file. */
void config_check_tls_zones(struct loader *loader);

#endif
