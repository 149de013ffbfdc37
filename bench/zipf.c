/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Fills the alias table. Each cell has the same probability and belongs to at most two numbers. A
 * number lighter than average lends the rest of its cell to a heavier one.
 */

#include "zipf.h"

#include <math.h>
#include <stdlib.h>

static void scale_weights(double *weights, uint32_t count, double s)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        weights[i] = pow(i + 1.0, -s);
        sum += weights[i];
    }
    for (uint32_t i = 0; i < count; i++)
        weights[i] *= count / sum; /* 1 is exactly one cell */
}

static uint32_t as_share(double part)
{
    return part >= 1 ? UINT32_MAX : (uint32_t)(part * UINT32_MAX);
}

/* Weights fall with the index, so heavy numbers are found from the front and light ones from the
 * back. A number that becomes light on the way is finished at once. */
static void fill(struct zipf *zipf, double *weights)
{
    uint32_t heavy = 0;
    for (uint32_t i = 0; i < zipf->count; i++)
        zipf->cells[i] = (struct zipf_cell){UINT32_MAX, i};
    for (uint32_t light = zipf->count; light-- > 0;) {
        uint32_t at = light;
        while (weights[at] < 1 && heavy < light) {
            zipf->cells[at] = (struct zipf_cell){as_share(weights[at]), heavy};
            weights[heavy] -= 1 - weights[at];
            weights[at] = 1;
            if (weights[heavy] >= 1)
                break;
            at = heavy++; /* it has lent more than its surplus, so it is light now */
        }
    }
}

enum err zipf_init(struct zipf *zipf, uint32_t count, double s)
{
    double *weights = malloc(count * sizeof(*weights));
    zipf->count = count;
    zipf->cells = malloc(count * sizeof(*zipf->cells));
    if (!weights || !zipf->cells) {
        free(weights);
        zipf_deinit(zipf);
        return ERR_NO_MEMORY;
    }
    scale_weights(weights, count, s);
    fill(zipf, weights);
    free(weights);
    return ERR_OK;
}

void zipf_deinit(struct zipf *zipf)
{
    free(zipf->cells);
    zipf->cells = NULL;
}
