//@ flags: -O2 -D_FORTIFY_SOURCE=2
// The checking functions that _FORTIFY_SOURCE puts in: with sizes that are known to fit they are
// expanded like the plain ones.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

_Alignas(64) char row1[64], row2[64], row3[64], row4[64], row5[64], row6[64];
char from[64] = "from";
atomic_int step;

void *constant(void *arg) {
    memset(row1, 7, 24); // expect: data-race write #1
    memcpy(row2, from, 24); // expect: data-race write #2
    memmove(row3, from, 7); // expect: data-race write #3
    strcpy(row4, "abcdef"); // expect: data-race write #4
    sprintf(row5, "%s", "abc"); // expect: data-race write #5
    snprintf(row6, 9, "xy"); // expect: data-race write #6
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t thread;
    // Shared before the calls: `fast` forgets what one thread alone has touched.
    char *const rows[] = {row1, row2, row3, row4, row5, row6};
    for (int i = 0; i < 6; i++)
        rows[i][0] = 2;
    pthread_create(&thread, NULL, constant, NULL);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) {
    }
    row1[0] = 1; // expect: data-race write #1
    row2[0] = 1; // expect: data-race write #2
    row3[0] = 1; // expect: data-race write #3
    row4[0] = 1; // expect: data-race write #4
    row5[0] = 1; // expect: data-race write #5
    row6[0] = 1; // expect: data-race write #6
    pthread_join(thread, NULL);
    return 0;
}
