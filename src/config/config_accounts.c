/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Finds the users and groups that the configuration names, so that an unknown one is an error in
 * the file and not a failure at the start. Invariant: the user found is not root.
 */
#include "config/config_accounts.h"

#include <stdio.h>
#include <string.h>

#include "config/place.h"
#include "config/account.h"

static const struct place server = {.key = "server"}, control = {.key = "control"};

static void find_group(struct loader *loader, const struct place *place, const char *key,
                       const char *word, uint32_t *gid)
{
    if (!account_find_group(word, gid))
        place_error(loader, place, key,
                    "names the group \"%s\", which does not exist; create it or choose another",
                    word);
}

static bool find_user(struct loader *loader, const struct place *place, const char *key,
                      const char *word, struct account_user *user)
{
    if (account_find_user(word, user))
        return true;
    place_error(loader, place, key,
                "names the user \"%s\", but there is no such user; create one (as root: useradd "
                "--system %s) or choose another",
                word, word);
    return false;
}

/* Switching from root to root would change nothing, and look like protection. */
static void check_user(struct loader *loader, const struct config_account *run_as)
{
    if (run_as->uid == 0)
        place_error(loader, &server, "user",
                    "is root, which protects nothing; choose another user or leave it out");
    else if (run_as->gid == CONFIG_NO_ID)
        place_error(loader, &server, "user",
                    "is a number without a user, so its group must be given too: %u:GROUP",
                    run_as->uid);
    else if (run_as->gid == 0)
        place_error(loader, &server, "user", "is in the group root; choose another group");
}

static void find_run_as(struct loader *loader)
{
    struct config_account *run_as = &loader->config->run_as;
    char word[ACCOUNT_WORD_MAX + 1];
    const char *text = loader->config->user, *colon = strchr(text, ':');
    struct account_user user;

    snprintf(word, sizeof(word), "%.*s", (int)strcspn(text, ":"), text);
    if (!find_user(loader, &server, "user", word, &user))
        return;
    *run_as = (struct config_account){.uid = user.uid, .gid = user.gid};
    run_as->name = arena_copy(&loader->config->arena, user.name, strlen(user.name) + 1);
    if (!run_as->name)
        problems_no_memory(loader->problems);
    if (colon)
        find_group(loader, &server, "user", colon + 1, &run_as->gid);
    check_user(loader, run_as);
}

static void find_control_account(struct loader *loader)
{
    struct config *config = loader->config;
    struct account_user user = {.uid = config->run_as.uid};

    config->control_account = config->run_as;
    if (*config->control_owner &&
        find_user(loader, &control, "owner", config->control_owner, &user))
        config->control_account.uid = user.uid;
    if (*config->control_group)
        find_group(loader, &control, "group", config->control_group, &config->control_account.gid);
}

void config_find_accounts(struct loader *loader)
{
    if (*loader->config->user)
        find_run_as(loader);
    find_control_account(loader);
}
