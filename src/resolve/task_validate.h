/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_TASK_VALIDATE_H
#define NAILUP_RESOLVE_TASK_VALIDATE_H

/*
 * Drives the validation of a task's answer (validate/validation.h): finds keys and DS records in
 * the cache, runs verifications, and names the question that must be asked where the cache lacks
 * the answer. task.c asks it and acts on the verdict.
 *
 * Keys and DS records are answers in CACHE_VIEW_TRUST. They come from tasks of that view, which are
 * validated whatever the mode is and end with an alias instead of following it. So the mode `log`
 * changes nothing that clients see, and an alias never decides about its owner.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dns/name.h"
#include "dns/rrtype.h"
#include "resolve/classify.h"
#include "resolve/tasks.h"
#include "resolve/validator.h"

/* How often the servers are asked again after a bogus answer. */
enum { VALIDATE_RETRIES_MAX = 2 };

/* The answers of a task that failed to validate. */
struct task_bogus {
    unsigned count; /* of servers */
    struct addr servers[VALIDATE_RETRIES_MAX + 1];
    struct failure failure; /* of the last one; its text is below */
    char text[ANSWER_TEXT_MAX];
};

/* A question about keys or DS records that must be asked. */
struct validate_need {
    uint16_t type; /* DNSKEY or DS */
    uint8_t len;
    uint8_t wire[NAME_WIRE_MAX];
};

enum validate_result {
    VALIDATE_VERDICT, /* *verdict is set */
    VALIDATE_NEEDS,   /* *need must be asked: task_validate_event() makes the next event of it */
    VALIDATE_PUT_OFF, /* this turn of the loop has verified enough: RESUMED is the next event */
};

/* Returns the anchor that decides about the question, trusted or negative; NULL: none. */
const struct anchor *task_validate_anchor(const struct tasks *tasks,
                                          const struct question *question);

/* Whether a verdict changes the answers of this task. */
static inline bool task_is_enforced(const struct task *task)
{
    return task->space->mode == VALIDATE_YES || task->key.view == CACHE_VIEW_TRUST;
}

/* Whether this response needs a verdict before the strategy sees it. A doubtful one (is_empty) does
 * not before it is the last hope, because the strategy refuses it. */
bool task_validate_concerns(const struct task *task, const struct response *response);

/* Whether the message is unsigned and comes from a zone that was just found to be insecure. Then
 * *verdict is set as a validation would set it, and no validation need begin. */
bool task_validate_knows_insecure(const struct task *task, const struct message *message,
                                  const struct response *response, struct verdict *verdict);

/* Notes that the asked zone has answered with a referral. */
void task_validate_note_referral(const struct task *task);

/* Whether signatures will most likely prove the answer to the task's whole question: the zone whose
 * servers are asked was just found to be secure. Not for zones that answer with referrals, and so
 * not for the root and top-level domains: no signature proves the names of servers. */
bool task_validate_will_prove(const struct task *task);

/* Begins; *event is the first event. */
void task_validate_begin(struct task *task, struct validating *validating,
                         struct validation_event *event);

/*
 * Goes on with this event until the verdict, or until a question must be asked. message and
 * response are the judged ones. Where the first alias is good and what follows it is bogus, or the
 * question is about keys or DS records, the response is cut at that alias and validating->is_cut is
 * set: the verdict is about the alias, and the target must be asked for. The tasks have a
 * validator, and the task has a budget. The RRsets in the validator's space are those of the
 * message afterwards.
 */
enum validate_result task_validate_next(struct task *task, struct validating *validating,
                                        const struct message *message, struct response *response,
                                        const struct validation_event *event,
                                        struct validate_need *need, struct verdict *verdict);

/* Makes an event of the answer to the question that was asked; it borrows the answer. */
struct validation_event task_validate_event(struct validating *validating,
                                            const struct answer *answer, uint64_t now_us);

/* Makes the event for a question that no task could ask. is_room: our own lack of room is the
 * reason. */
struct validation_event task_validate_refusal(struct validating *validating, uint16_t ede,
                                              bool is_room);

/* Whether the clock is known to be wrong, so that the end of a signature is not known. */
bool task_validate_clock_is_behind(const struct tasks *tasks);

/* Counts and logs the verdict about the answer of this server. Returns whether the keys of a trust
 * anchor should be asked for now, and sets their key of the cache: they show whether a forwarder
 * strips signatures, or whether the clock is right. */
MUST_USE bool task_validate_note(const struct task *task, const struct verdict *verdict,
                                 const struct addr *server, struct cache_key *keys);

/* The fate of a task after a bogus answer. */
enum refusal {
    REFUSAL_RETRY,     /* the servers may be asked again */
    REFUSAL_FINAL,     /* the task fails as task->bogus says */
    REFUSAL_NOT_NOTED, /* out of memory */
};

/* Notes in task->bogus that this server's answer is bogus, and why. */
enum refusal task_validate_refuse(struct task *task, const struct validating *validating,
                                  const struct verdict *verdict, const struct addr *server);

#endif
