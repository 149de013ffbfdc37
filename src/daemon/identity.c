/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* privileges.c drops root's privileges. This file reports the result and checks each file that is
 * read after the start. */

#include "daemon/identity.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "config/config.h"
#include "daemon/exit_code.h"
#include "daemon/privileges.h"
#include "daemon/refusal.h"
#include "serve/listen_sockets.h"

static bool identity_can_read(const char *path)
{
    return !path || !*path || access(path, R_OK) == 0;
}

/* Workers read these files when they first connect to a server. */
static int identity_check_tls(const struct tls_peer_options *tls)
{
    const char *const paths[] = {tls->ca_bundle, tls->certificate, tls->key};

    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        if (!identity_can_read(paths[i]))
            return refusal("server.user cannot read %s, which connections to upstreams need: %s; "
                           "make it readable for the user's group",
                           paths[i], strerror(errno));
    return EXIT_STOPPED;
}

static int identity_check_upstreams(const struct config *config)
{
    int code = identity_check_tls(&config->upstream.tls);

    for (size_t i = 0; !code && i < config->entry_count; i++)
        code = identity_check_tls(&config->entries[i].layer.values.tls);
    for (size_t i = 0; !code && i < config->zone_count; i++)
        code = identity_check_tls(&config->zones[i].layer.values.tls);
    for (size_t i = 0; !code && i < config->stub_count; i++)
        code = identity_check_tls(&config->stub_zones[i].layer.values.tls);
    return code;
}

static void identity_warn_of_file(const char *path)
{
    if (!identity_can_read(path))
        LOG(LOG_WARNING, "daemon", "server.user cannot read %s, so a reload will fail: %s", path,
            strerror(errno));
}

static void identity_warn_of_files(const struct config *config, const char *config_file)
{
    identity_warn_of_file(config_file);
    identity_warn_of_file(config->server.tls_certificate);
    identity_warn_of_file(config->server.tls_key);
    identity_warn_of_file(config->server.cookie_secret_file);
    identity_warn_of_file(config->hosts_file);
    for (size_t i = 0; i < config->block_list_count; i++)
        identity_warn_of_file(config->block_lists[i].file);
}

int identity_take(const struct config *config, const char *config_file,
                  const struct listen_sockets *sockets)
{
    char why[PRIVILEGES_WHY_MAX];

    if (config->run_as.uid == CONFIG_NO_ID) {
        if (privileges_is_root())
            LOG(LOG_WARNING, "daemon",
                "running as root: set server.user, so that a fault in nailupd cannot harm the "
                "whole machine");
        return EXIT_STOPPED;
    }
    listen_sockets_chown(sockets, config->run_as.uid);
    if (privileges_drop(&config->run_as, why))
        return refusal("server.user: %s", why);
    identity_warn_of_files(config, config_file);
    return identity_check_upstreams(config);
}
