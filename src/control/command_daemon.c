/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Commands that the daemon itself runs, through the hooks of the view. */

#include "control/call.h"
#include "control/commands.h"

/* NULL: the call has been refused and is done. */
static const struct control_hooks *hooks_of(struct call *call)
{
    const struct control_hooks *hooks = call->view->hooks;

    if (hooks)
        return hooks;
    reply_refuse(&call->reply, "the daemon is still starting; try again");
    call_done(call);
    return NULL;
}

void command_reload(struct call *call)
{
    const struct control_hooks *hooks = hooks_of(call);

    if (hooks)
        hooks->reload(hooks->daemon, call);
}

void command_drain(struct call *call)
{
    const struct control_hooks *hooks = hooks_of(call);

    if (hooks)
        hooks->drain(hooks->daemon, call);
}

void command_forward(struct call *call)
{
    const struct control_hooks *hooks = hooks_of(call);

    if (hooks)
        hooks->forward(hooks->daemon, call);
}

void command_nta(struct call *call)
{
    const struct control_hooks *hooks = hooks_of(call);

    if (hooks)
        hooks->nta(hooks->daemon, call);
}

void command_portal(struct call *call)
{
    const struct control_hooks *hooks = hooks_of(call);

    if (hooks)
        hooks->portal(hooks->daemon, call);
}

void command_anchors(struct call *call)
{
    const struct control_hooks *hooks = hooks_of(call);

    if (hooks)
        hooks->anchors(hooks->daemon, call);
}

void command_hosts(struct call *call)
{
    const struct control_hooks *hooks = hooks_of(call);

    if (hooks)
        hooks->hosts(hooks->daemon, call);
}
