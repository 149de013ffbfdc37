/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_DNSTAP_FILE_H
#define NAILUP_BENCH_DNSTAP_FILE_H

/*
 * The DNS queries of a dnstap file: a file of Frame Streams (the format of libfstrm) whose frames
 * are messages of dnstap.proto. It takes the messages of types CLIENT_QUERY and AUTH_QUERY, which
 * are queries that a server received, over any transport. All others are skipped.
 */

#include <stddef.h>
#include <stdio.h>

#include "capture.h"

enum {
    DNSTAP_FRAME_MAX = 262144,
    DNSTAP_CONTROL_MAX = 512, /* bytes of a control frame; libfstrm's own bound */
};

/* The reason why a file is not read. */
enum dnstap_fault {
    DNSTAP_FINE,
    DNSTAP_NO_STREAM, /* it does not begin with the frame START */
    DNSTAP_CONTENT,   /* its frames are something else */
    DNSTAP_CUT,       /* it ends within a frame */
    DNSTAP_FRAME,     /* a frame is longer than its bound, or is no message of dnstap */
    DNSTAP_EMPTY,     /* no message is a query of a client */
    DNSTAP_FULL,      /* more queries than memory or 4 GiB hold */
};

/* Reads in up to the frame STOP, or to the end of a file that has none. *frames is the number of
 * frames so far: after DNSTAP_CUT and DNSTAP_FRAME, the fault is in the next one. After a fault the
 * capture is empty. */
enum dnstap_fault dnstap_file_load(struct capture *capture, FILE *in, size_t *frames);

/* Says what is wrong and what to do; static. */
const char *dnstap_fault_text(enum dnstap_fault fault);

#endif
