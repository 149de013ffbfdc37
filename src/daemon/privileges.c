/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Becomes another user. Calls the kernel directly: three structs and a few prctl().
 *
 * Invariant: everything that can be verified is verified. After the change this reads ids and
 * capabilities back, and root must be out of reach.
 */

#include "daemon/privileges.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct sets {
    uint64_t effective, permitted, inheritable;
};

static const uint64_t kept_capabilities = UINT64_C(1) << CAP_NET_BIND_SERVICE;

static bool privileges_get_sets(struct sets *sets)
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
static bool privileges_set_capabilities(uint64_t bits)
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

static bool privileges_set_groups(const struct config_account *user)
{
    gid_t alone = user->gid;

    return *user->name ? initgroups(user->name, user->gid) == 0 : setgroups(1, &alone) == 0;
}

static bool privileges_is_user(const struct config_account *user)
{
    uid_t real_uid, effective_uid, saved_uid;
    gid_t real_gid, effective_gid, saved_gid;

    return getresuid(&real_uid, &effective_uid, &saved_uid) == 0 &&
           getresgid(&real_gid, &effective_gid, &saved_gid) == 0 && real_uid == user->uid &&
           effective_uid == user->uid && saved_uid == user->uid && real_gid == user->gid &&
           effective_gid == user->gid && saved_gid == user->gid;
}

/* Uses libc's functions, which would change every thread if there were others. */
static bool privileges_become(const struct config_account *user)
{
    return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 && privileges_set_groups(user) &&
           setresgid(user->gid, user->gid, user->gid) == 0 &&
           setresuid(user->uid, user->uid, user->uid) == 0 &&
           prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) == 0;
}

/* Each of these tests is a way back to root. */
static bool is_root_in_reach(uint64_t allowed)
{
    struct sets sets;

    return setuid(0) == 0 || seteuid(0) == 0 || setgid(0) == 0 || !privileges_get_sets(&sets) ||
           sets.permitted != allowed || sets.effective != allowed || sets.inheritable != 0 ||
           prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}

static enum err privileges_fail(char why[PRIVILEGES_WHY_MAX], const char *what)
{
    snprintf(why, PRIVILEGES_WHY_MAX, "%s", what);
    return ERR_PERMISSION;
}

bool privileges_is_root(void)
{
    return geteuid() == 0;
}

enum err privileges_drop(const struct config_account *user, char why[PRIVILEGES_WHY_MAX])
{
    struct sets before;

    if (!privileges_get_sets(&before))
        return privileges_fail(why, "the kernel does not report capabilities");
    clear_bounding_set();
    if (!privileges_is_user(user) && !privileges_become(user)) {
        snprintf(why, PRIVILEGES_WHY_MAX, "user %u, group %u: %s; start as root, or as that user",
                 user->uid, user->gid, strerror(errno));
        return ERR_PERMISSION;
    }
    uint64_t allowed = before.permitted & kept_capabilities;
    if (!privileges_set_capabilities(allowed) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return privileges_fail(why, "cannot drop capabilities");
    if (!privileges_is_user(user) || is_root_in_reach(allowed))
        return privileges_fail(why, "root's privileges can still be regained");
    return ERR_OK;
}
