/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOOP_LOOP_UV_H
#define NAILUP_LOOP_LOOP_UV_H

/* Private to src/loop: the libuv loop inside a loop. The loop's thread. */

#include <uv.h>

struct loop;

/* Its handles run within the loop's turns. */
uv_loop_t *loop_uv(struct loop *loop);

#endif
