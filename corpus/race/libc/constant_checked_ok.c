//@ flags: -O2 -D_FORTIFY_SOURCE=2
// The checking functions that _FORTIFY_SOURCE puts in: with sizes that are known to fit they are
// expanded like the plain ones.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

// expect: nothing
_Alignas(64) char row1[64], row2[64], row3[64], row4[64], row5[64], row6[64];
char from[64] = "from";

void *constant(void *arg) {
    memset(row1, 7, 24);
    memcpy(row2, from, 24);
    memmove(row3, from, 7);
    strcpy(row4, "abcdef");
    sprintf(row5, "%s", "abc");
    snprintf(row6, 9, "xy");
    return arg;
}

int main(void) {
    pthread_t thread;
    // Shared before the calls: `fast` forgets what one thread alone has touched.
    char *const rows[] = {row1, row2, row3, row4, row5, row6};
    for (int i = 0; i < 6; i++)
        rows[i][0] = 2;
    pthread_create(&thread, NULL, constant, NULL);
    pthread_join(thread, NULL);
    row1[0] = 1;
    row2[0] = 1;
    row3[0] = 1;
    row4[0] = 1;
    row5[0] = 1;
    row6[0] = 1;
    return 0;
}
