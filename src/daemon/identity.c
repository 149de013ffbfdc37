/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Becomes another user and checks each file that is read after the start. Calls the kernel
 * directly: three structs and a few prctl().
 *
 * Invariant: everything that can be verified is verified. After the change this reads ids and
 * capabilities back, and root must be out of reach.
 */

#include "daemon/identity.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "config/config.h"
#include "daemon/exit_code.h"
#include "daemon/refusal.h"
#include "serve/listen_sockets.h"

enum { WHY_MAX = 160 };

/* ---- becoming the user ---- */

struct sets {
    uint64_t effective, permitted, inheritable;
};

static const uint64_t kept_capabilities = UINT64_C(1) << CAP_NET_BIND_SERVICE;

static bool identity_get_sets(struct sets *sets)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    if (syscall(SYS_capget, &header, data) != 0)
        return false;
    sets->effective = data[0].effective | (uint64_t)data[1].effective << 32;
    sets->permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
    sets->inheritable = data[0].inheritable | (uint64_t)data[1].inheritable << 32;
    return true;
}

/* Sets the effective and permitted set. The inheritable set becomes empty, and the ambient set with
 * it. */
static bool identity_set_capabilities(uint64_t bits)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {
        {.effective = (uint32_t)bits, .permitted = (uint32_t)bits},
        {.effective = (uint32_t)(bits >> 32), .permitted = (uint32_t)(bits >> 32)},
    };

    return syscall(SYS_capset, &header, data) == 0;
}

/* Limits the capabilities of programs that we start. We start none, and no_new_privs has the same
 * effect, so a process that may not clear this set is just as safe. */
static void clear_bounding_set(void)
{
    for (unsigned long bit = 0; prctl(PR_CAPBSET_READ, bit, 0, 0, 0) >= 0; bit++)
        if (prctl(PR_CAPBSET_DROP, bit, 0, 0, 0) != 0)
            return;
}

static bool identity_set_groups(const struct config_account *user)
{
    gid_t alone = user->gid;

    return *user->name ? initgroups(user->name, user->gid) == 0 : setgroups(1, &alone) == 0;
}

static bool identity_is_user(const struct config_account *user)
{
    uid_t real_uid, effective_uid, saved_uid;
    gid_t real_gid, effective_gid, saved_gid;

    return getresuid(&real_uid, &effective_uid, &saved_uid) == 0 &&
           getresgid(&real_gid, &effective_gid, &saved_gid) == 0 && real_uid == user->uid &&
           effective_uid == user->uid && saved_uid == user->uid && real_gid == user->gid &&
           effective_gid == user->gid && saved_gid == user->gid;
}

/* Uses libc's functions, which would change every thread if there were others. */
static bool identity_become(const struct config_account *user)
{
    return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 && identity_set_groups(user) &&
           setresgid(user->gid, user->gid, user->gid) == 0 &&
           setresuid(user->uid, user->uid, user->uid) == 0 &&
           prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) == 0;
}

/* Each of these conditions would be a way back to root. */
static bool is_root_in_reach(uint64_t allowed)
{
    struct sets sets;

    return setuid(0) == 0 || seteuid(0) == 0 || setgid(0) == 0 || !identity_get_sets(&sets) ||
           sets.permitted != allowed || sets.effective != allowed || sets.inheritable != 0 ||
           prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}

static enum err identity_fail(char why[WHY_MAX], const char *what)
{
    snprintf(why, WHY_MAX, "%s", what);
    return ERR_PERMISSION;
}

/* Gives up root's privileges irrevocably and becomes the user, with its group and, if the user has
 * a name, its other groups. Keeps only CAP_NET_BIND_SERVICE, so that a reload can add listeners. A
 * process that already runs as that user only drops its surplus capabilities. On error why is a
 * sentence, and the process must end, because the change may be incomplete. */
static enum err identity_drop_privileges(const struct config_account *user, char why[WHY_MAX])
{
    struct sets before;

    if (!identity_get_sets(&before))
        return identity_fail(why, "the kernel does not report capabilities");
    clear_bounding_set();
    if (!identity_is_user(user) && !identity_become(user)) {
        snprintf(why, WHY_MAX, "user %u, group %u: %s; start as root, or as that user", user->uid,
                 user->gid, strerror(errno));
        return ERR_PERMISSION;
    }
    uint64_t allowed = before.permitted & kept_capabilities;
    if (!identity_set_capabilities(allowed) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return identity_fail(why, "cannot drop capabilities");
    if (!identity_is_user(user) || is_root_in_reach(allowed))
        return identity_fail(why, "root's privileges can still be regained");
    return ERR_OK;
}

/* ---- files that are read later ---- */

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
            return refusal_print(
                "server.user cannot read %s, which connections to upstreams need: %s; "
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

/* The daemon makes a file of anchors that it keeps and that does not exist. */
static void identity_warn_of_anchors(const struct config *config)
{
    const char *path = config->trust_anchor_file;
    bool is_to_come = config->keeps_anchors && path && access(path, F_OK) != 0 && errno == ENOENT;

    if (!is_to_come)
        identity_warn_of_file(path);
}

/* The loader only warns about such a file, so a reload succeeds without it. */
static void identity_warn_of_zone(const char *path)
{
    if (!identity_can_read(path))
        LOG(LOG_WARNING, "daemon",
            "server.user cannot read %s, so a reload will not change its zone: %s", path,
            strerror(errno));
}

static void identity_warn_of_files(const struct config *config, const char *config_file)
{
    identity_warn_of_file(config_file);
    identity_warn_of_file(config->server.tls_certificate);
    identity_warn_of_file(config->server.tls_key);
    identity_warn_of_file(config->server.cookie_secret_file);
    identity_warn_of_file(config->hosts_file);
    identity_warn_of_anchors(config);
    for (size_t i = 0; i < config->block_list_count; i++)
        identity_warn_of_file(config->block_lists[i].file);
    for (size_t i = 0; i < config->rpz.count; i++)
        identity_warn_of_file(config->rpz.zones[i].file);
    for (size_t i = 0; i < config->auth_zone_count; i++)
        identity_warn_of_zone(config->auth_zones[i].file);
    for (size_t i = 0; i < config->tsig_key_count; i++)
        identity_warn_of_file(config->tsig_keys[i].file);
}

int identity_take(const struct config *config, const char *config_file,
                  const struct listen_sockets *sockets)
{
    char why[WHY_MAX];

    if (config->run_as.uid == CONFIG_NO_ID) {
        if (geteuid() == 0)
            LOG(LOG_WARNING, "daemon",
                "running as root: set server.user, so that a fault in nailupd cannot harm the "
                "whole machine");
        return EXIT_STOPPED;
    }
    listen_sockets_chown(sockets, config->run_as.uid);
    if (identity_drop_privileges(&config->run_as, why))
        return refusal_print("server.user: %s", why);
    identity_warn_of_files(config, config_file);
    return identity_check_upstreams(config);
}
