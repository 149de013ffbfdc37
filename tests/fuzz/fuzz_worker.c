/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A whole worker in virtual time: the bytes are a schedule of clients' packets, servers' answers,
 * faults, time and reloads (worker/schedule.h). The checks are in worker/rules.c (counters and
 * bounds), worker/ledger.c (answers) and worker/far.c (queries to servers).
 */
#include "base/log.h"
#include "fuzz/worker/schedule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    log_set_level(LOG_ERROR);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    schedule_play(data, size);
    return 0;
}
