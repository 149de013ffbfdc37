/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_FORWARD_CHECK_H
#define NAILUP_CONFIG_FORWARD_CHECK_H

/* What the checks of a file say of a zone, for one that is set at run time. Pure. */

#include "config/forward.h"

/*
 * Whether the zone may be asked of these upstreams under this configuration: ERR_INVALID with a
 * sentence where not. The file's strict TLS holds: where it asks a zone over that, nothing else is
 * taken. Names that are answered here have no use for upstreams.
 */
MUST_USE enum err forward_check(const struct config *config, const struct forward *forward,
                                char why[FORWARD_WHY_MAX]);

#endif
