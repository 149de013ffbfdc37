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
    DNSTAP_CONTROL_MAX = 512, /* the bound on a control frame; libfstrm has the same */
};

/* Why a file is not read. */
enum dnstap_fault {
    DNSTAP_FINE,
    DNSTAP_NO_STREAM, /* the file does not begin with the frame START */
    DNSTAP_CONTENT,   /* the frames have another content */
    DNSTAP_CUT,       /* the file ends within a frame */
    DNSTAP_FRAME,     /* a frame exceeds its bound, or is not a dnstap message */
    DNSTAP_EMPTY,     /* no message is a client's query */
    DNSTAP_FULL,      /* the queries exceed memory or 4 GiB */
};

/* Reads `in` up to the frame STOP, or to the end of a file without it. *frames is the number of
 * frames read: after DNSTAP_CUT and DNSTAP_FRAME, the next one has the fault. After a fault the
 * capture is empty. */
enum dnstap_fault dnstap_file_load(struct capture *capture, FILE *in, size_t *frames);

/* Returns a static sentence that says what is wrong and what to do. */
const char *dnstap_fault_text(enum dnstap_fault fault);

#endif
