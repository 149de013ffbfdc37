/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_VERDICT_H
#define NAILUP_BENCH_VERDICT_H

enum answer_verdict {
    ANSWER_SEND,
    ANSWER_SILENT,
    ANSWER_CLOSE, /* from here on, the values concern a stream; over UDP they mean silence */
    ANSWER_RESET,
    ANSWER_STALL,
    ANSWER_HALF,
};

#endif
