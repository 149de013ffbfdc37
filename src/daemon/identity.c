/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* How root's rights go is privileges.c's; here is what is said of it, and each file that is read
 * later than the start is asked about. */

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

static bool is_readable(const char *path)
{
    return !path || !*path || access(path, R_OK) == 0;
}

/* Workers make their contexts of TLS when they meet a server. */
static int check_tls(const struct tls_peer_options *tls)
{
    const char *const paths[] = {tls->ca_bundle, tls->certificate, tls->key};

    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        if (!is_readable(paths[i]))
            return refusal("server.user cannot read %s, which connections to upstreams need: %s; "
                           "let its group read it",
                           paths[i], strerror(errno));
    return EXIT_STOPPED;
}

static int identity_check_upstreams(const struct config *config)
{
    int code = check_tls(&config->upstream.tls);

    for (size_t i = 0; !code && i < config->entry_count; i++)
        code = check_tls(&config->entries[i].layer.values.tls);
    for (size_t i = 0; !code && i < config->zone_count; i++)
        code = check_tls(&config->zones[i].layer.values.tls);
    for (size_t i = 0; !code && i < config->stub_count; i++)
        code = check_tls(&config->stub_zones[i].layer.values.tls);
    return code;
}

static void warn_of_reload(const char *path)
{
    if (!is_readable(path))
        LOG(LOG_WARNING, "daemon", "server.user cannot read %s, so a reload will fail: %s", path,
            strerror(errno));
}

static void warn_of_reloads(const struct config *config, const char *config_file)
{
    warn_of_reload(config_file);
    warn_of_reload(config->server.tls_certificate);
    warn_of_reload(config->server.tls_key);
    warn_of_reload(config->server.cookie_secret_file);
    warn_of_reload(config->hosts_file);
    for (size_t i = 0; i < config->block_list_count; i++)
        warn_of_reload(config->block_lists[i].file);
}

int identity_take(const struct config *config, const char *config_file,
                  const struct listen_sockets *sockets)
{
    char why[PRIVILEGES_WHY_MAX];

    if (config->run_as.uid == CONFIG_NO_ID) {
        if (privileges_is_root())
            LOG(LOG_WARNING, "daemon",
                "running as root: name a user in server.user, so that a fault here is not one of "
                "the whole machine");
        return EXIT_STOPPED;
    }
    listen_sockets_chown(sockets, config->run_as.uid);
    if (privileges_drop(&config->run_as, why))
        return refusal("server.user: %s", why);
    warn_of_reloads(config, config_file);
    return identity_check_upstreams(config);
}
