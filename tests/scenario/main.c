/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * scenario_runner [--verbose] [--seed N] [--left-out FILE] FILE.rpl|DIR...
 *
 * Plays scenarios one by one and prints a line for each that says whether it passed. Exit status: 0
 * if none failed, 1 if one did, 2 on wrong usage, 77 if all named files are missing.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "scenario/play.h"
#include "scenario/reasons.h"
#include "scenario/script.h"
#include "scenario/translate.h"

enum { EXIT_SKIPPED = 77, PATH_MAX_LEN = 4096 };

struct run {
    bool verbose;
    uint64_t seed;
    char *left_out; /* lines "FILE: reason" */
    unsigned played, failed, skipped;
    unsigned missing;
    struct reasons reasons;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- one file ---- */

static void say_skipped(struct run *run, const char *path, const char *why)
{
    printf("skipped %s: %s\n", base_name(path), why);
    reasons_add(&run->reasons, why);
    run->skipped++;
}

static void say_result(struct run *run, const struct script *script, const struct play *play,
                       bool fine)
{
    if (fine) {
        printf("ok      %s: %s\n", base_name(script->path), script->title);
        run->played++;
        return;
    }
    printf("FAILED  %s: %s\n%s\n", base_name(script->path), script->title, play->why);
    run->failed++;
}

/* Excludes a part of each answer from the comparison. */
static void compare_less(struct script *script, enum entry_match apart)
{
    for (struct script_step *step = script->steps; step; step = step->next)
        if (step->entry)
            step->entry->match |= apart;
}

/* A file with features that nailup lacks may pass nevertheless. If it fails, the lack is the
 * reason. */
static void play_unbounds(struct run *run, struct play *play, struct script *script)
{
    struct translation translation = translate_options(script->config);
    script->gives_cookies = translation.is_trusting;
    script->ignores_dates = translation.ignores_dates;
    if (translation.wall_s)
        script->wall_s = translation.wall_s;
    /* The translation has no anchors, so the AD bit is left out and all else is compared. */
    if (strcmp(translation.needs, TRANSLATE_VALIDATION) == 0)
        compare_less(script, MATCH_APART_AD);
    /* Unbound sets AA in answers of a policy. nailup adds the SOA record of the policy zone in the
     * additional section, as the draft demands. */
    if (translation.has_policy)
        compare_less(script, MATCH_APART_POLICY);
    char why[TRANSLATE_NEEDS_MAX + 16];
    snprintf(why, sizeof(why), "needs %s", translation.needs);
    if (run->verbose && translation.yaml)
        fprintf(stderr, "%s", translation.yaml);
    if (!translation.yaml) {
        say_skipped(run, script->path, translation.needs[0] ? why : "needs recursion");
    } else {
        bool fine = play_script(play, script, translation.yaml);
        if (!fine && play->lacks_verb)
            say_skipped(run, script->path, play->why);
        else if (!fine && translation.needs[0])
            say_skipped(run, script->path, why);
        else
            say_result(run, script, play, fine);
    }
    translate_free(&translation);
}

/* Finds the reason in the line for this file. */
static bool is_left_out(const struct run *run, const char *path, char *why, size_t size)
{
    char key[PATH_MAX_LEN];
    snprintf(key, sizeof(key), "\n%s: ", base_name(path));
    const char *found = run->left_out ? strstr(run->left_out, key) : NULL;
    if (!found)
        return false;
    found += strlen(key);
    snprintf(why, size, "left out: %.*s", (int)strcspn(found, "\n"), found);
    return true;
}

static void play_file(struct run *run, const char *path)
{
    static struct script script;
    static struct play play;
    char why[1024];
    play.verbose = run->verbose;
    play.seed = run->seed;
    if (is_left_out(run, path, why, sizeof(why))) {
        say_skipped(run, path, why);
        return;
    }
    if (run->verbose)
        fprintf(stderr, "%s\n", path);
    if (!script_load(&script, path) && !script.needs[0]) {
        printf("FAILED  %s: %s\n", base_name(path), script.error);
        run->failed++;
    } else if (script.needs[0]) {
        snprintf(why, sizeof(why), "needs %s", script.needs);
        say_skipped(run, path, why);
    } else if (script.is_ours) {
        say_result(run, &script, &play, play_script(&play, &script, script.config));
    } else {
        play_unbounds(run, &play, &script);
    }
    script_free(&script);
    fflush(stdout);
}

/* ---- files and folders ---- */

static void play_path(struct run *run, const char *path);

static int is_wanted(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);
    return entry->d_name[0] != '.' &&
           (entry->d_type == DT_DIR || (len > 4 && strcmp(entry->d_name + len - 4, ".rpl") == 0));
}

static void play_folder(struct run *run, const char *path)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, is_wanted, alphasort);
    for (int i = 0; i < count; i++) {
        char inner[PATH_MAX_LEN];
        snprintf(inner, sizeof(inner), "%s/%s", path, entries[i]->d_name);
        play_path(run, inner);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

static bool is_folder(const char *path)
{
    DIR *folder = opendir(path);
    if (folder)
        closedir(folder);
    return folder;
}

static void play_path(struct run *run, const char *path)
{
    if (is_folder(path)) {
        play_folder(run, path);
    } else if (access(path, R_OK) == 0) {
        play_file(run, path);
    } else {
        printf("skipped %s: there is no such file or folder\n", path);
        run->missing++;
    }
}

/* Returns the file with a line break in front, so that every line is "\nFILE: reason". */
static char *read_left_out(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    char *text = calloc(1, 256 * 1024);
    MUST(text);
    text[0] = '\n';
    size_t len = fread(text + 1, 1, 256 * 1024 - 2, file);
    text[len + 1] = '\0';
    fclose(file);
    return text;
}

int main(int argc, char **argv)
{
    struct run run = {.seed = 4242};
    int at = 1;
    for (; at < argc && strncmp(argv[at], "--", 2) == 0; at++) {
        if (strcmp(argv[at], "--verbose") == 0)
            run.verbose = true;
        else if (strcmp(argv[at], "--left-out") == 0 && at + 1 < argc)
            run.left_out = read_left_out(argv[++at]);
        else if (strcmp(argv[at], "--seed") == 0 && at + 1 < argc)
            run.seed = strtoull(argv[++at], NULL, 0);
        else
            at = argc;
    }
    if (at >= argc) {
        fprintf(stderr, "usage: run [--verbose] [--seed N] [--left-out FILE] FILE.rpl|DIR...\n");
        return 2;
    }
    log_set_level(run.verbose ? LOG_DEBUG : LOG_ERROR);
    int named = argc - at;
    for (; at < argc; at++)
        play_path(&run, argv[at]);
    reasons_print(&run.reasons);
    printf("%u ok, %u failed, %u skipped\n", run.played, run.failed, run.skipped);
    free(run.left_out);
    if (run.missing == (unsigned)named)
        return EXIT_SKIPPED;
    return run.failed ? 1 : 0;
}
