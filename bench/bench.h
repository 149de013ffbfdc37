/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_BENCH_H
#define NAILUP_BENCH_BENCH_H

/*
 * The commands of nailup-bench. Each command takes the arguments after its own name (argv[0] is the
 * name) and returns the exit code: 0 for success, or 1 after a line on stderr. Wrong use ends the
 * process with 2 (options.h).
 */

int responder_main(int argc, char **argv);
int transports_main(int argc, char **argv);
int load_main(int argc, char **argv);
int replay_main(int argc, char **argv);
int udp_floor_main(int argc, char **argv);
int cable_main(int argc, char **argv);
int control_main(int argc, char **argv);

#endif
