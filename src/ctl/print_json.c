/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Prints tables for programs. The output is valid JSON whatever the daemon sends. */

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/answer.h"
#include "ctl/print.h"
#include "ctl/utf8.h"

/* No rate is higher than this. */
#define RATE_MAX 1e18

void print_json_string(const char *text, FILE *out)
{
    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        int len = utf8_len(p);
        if (len == 0)
            fputs("\\ufffd", out);
        else if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p < 0x20)
            fprintf(out, "\\u%04x", *p);
        else
            fwrite(p, 1, (size_t)len, out);
        p += len ? len : 1;
    }
    fputc('"', out);
}

static bool is_decimal(const char *text)
{
    size_t len = strspn(text, "0123456789");
    return len > 0 && len < 21 && text[len] == '\0';
}

static void print_json_put_number(const struct column *column, const char *cell, FILE *out)
{
    uint64_t number = strtoull(cell, NULL, 10);

    if (!is_decimal(cell))
        fputs("null", out);
    else if (column->type == COLUMN_DURATION)
        fprintf(out, "%" PRIu64 ".%06" PRIu64, number / 1000000, number % 1000000);
    else
        fprintf(out, "%" PRIu64, number);
}

static void put_real(const char *cell, double most, FILE *out)
{
    double number = strtod(cell, NULL);

    if (number >= 0 && number <= most) /* false for NaN */
        fprintf(out, "%.6f", number);
    else
        fputs("null", out);
}

static void print_json_put_value(const struct column *column, const char *cell, FILE *out)
{
    if (column->type == COLUMN_TEXT) /* an empty text is a string, not null */
        print_json_string(cell, out);
    else if (!*cell)
        fputs("null", out);
    else if (column->type == COLUMN_FLAG)
        fputs(strcmp(cell, "yes") == 0 ? "true" : "false", out);
    else if (column->type == COLUMN_RATIO)
        put_real(cell, 1, out);
    else if (column->type == COLUMN_RATE)
        put_real(cell, RATE_MAX, out);
    else
        print_json_put_number(column, cell, out);
}

static void print_json_put_name(const struct column *column, FILE *out)
{
    char name[CONTROL_NAME_MAX + sizeof("_per_second")];
    const char *unit = column->type == COLUMN_DURATION ? "_seconds"
                       : column->type == COLUMN_BYTES  ? "_bytes"
                       : column->type == COLUMN_RATE   ? "_per_second"
                                                       : "";
    snprintf(name, sizeof(name), "%s%s", column->name, unit);
    print_json_string(name, out);
}

static void print_json_put_row(const struct table *table, size_t row, FILE *out)
{
    fputc('{', out);
    for (size_t i = 0; i < table->column_count; i++) {
        fputs(i ? ", " : "", out);
        print_json_put_name(&table->columns[i], out);
        fputs(": ", out);
        print_json_put_value(&table->columns[i], answer_cell(table, row, i), out);
    }
    fputc('}', out);
}

static void print_json_put_cut(const struct table *table, FILE *out)
{
    char name[CONTROL_NAME_MAX + sizeof("_cut")];

    snprintf(name, sizeof(name), "%.*s_cut", CONTROL_NAME_MAX, table->name);
    fputs(",\n ", out);
    print_json_string(name, out);
    fprintf(out, ": %s", is_decimal(table->cut) ? table->cut : "null");
}

static void print_json_put_list(const struct table *table, FILE *out)
{
    fputc('[', out);
    for (size_t row = 0; row < table->row_count; row++) {
        fputs(row ? ",\n  " : "\n  ", out);
        print_json_put_row(table, row, out);
    }
    fputc(']', out);
}

void print_json(const struct parsed_reply *answer, FILE *out)
{
    fputc('{', out);
    for (size_t i = 0; i < answer->table_count; i++) {
        const struct table *table = &answer->tables[i];
        fputs(i ? ",\n " : "", out);
        print_json_string(table->name, out);
        fputs(": ", out);
        if (!table->is_record)
            print_json_put_list(table, out);
        else if (table->row_count > 0)
            print_json_put_row(table, 0, out);
        else
            fputs("null", out);
        if (table->cut)
            print_json_put_cut(table, out);
    }
    fputs("}\n", out);
}
