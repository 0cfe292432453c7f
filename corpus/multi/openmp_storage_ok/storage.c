#include <stdlib.h>

static _Thread_local long count;
static _Thread_local long *own;

void count_up(void) { count++; }

long *buffer(void) {
    if (!own) own = malloc(64 * sizeof *own);
    return own;
}
