//@ flags: -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
// The same through the functions that `_FORTIFY_SOURCE` puts in their places.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// One block for each call, with cache lines of its own: they are findings of their own.
_Alignas(64) char row1[256];
_Alignas(64) char row2[256];
_Alignas(64) char row3[256];
_Alignas(64) char row4[256];
_Alignas(64) char row5[256];
_Alignas(64) char row6[256];
_Alignas(64) char row7[256];
_Alignas(64) char row8[256];
_Alignas(64) char row9[256];
_Alignas(64) char row10[256];
_Alignas(64) char row11[256];
atomic_int step;
volatile long sink;
volatile size_t n = 8;
char *volatile name = "name";

void fill(char *to) {
    for (int i = 0; i < 7; i++)
        to[i] = '8' - i;
}

void *writer(void *arg) {
    row1[0] = '1'; // expect: data-race write #1
    row2[0] = '1'; // expect: data-race write #2
    row3[0] = '1'; // expect: data-race write #3
    row4[0] = '1'; // expect: data-race write #4
    row5[0] = '1'; // expect: data-race write #5
    row6[0] = '1'; // expect: data-race write #6
    row7[0] = '1'; // expect: data-race write #7
    row8[0] = '1'; // expect: data-race write #8
    row9[0] = '1'; // expect: data-race write #9
    row10[0] = '1'; // expect: data-race write #10
    row11[0] = '1'; // expect: data-race write #11
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    fill(row1);
    fill(row2);
    fill(row3);
    fill(row4);
    fill(row5);
    fill(row6);
    fill(row7);
    fill(row8);
    fill(row9);
    fill(row10);
    fill(row11);
    FILE *null = fopen("/dev/null", "w");
    char text[400];
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) {
    }
    snprintf(row1, n, "%d", 4); // expect: data-race write #1
    sprintf(row2, "%ld", sink); // expect: data-race write #2
    snprintf(text, n, "%s", row3); // expect: data-race read #3
    fprintf(null, "%s", row4); // expect: data-race read #4
    memset(row5, 1, n); // expect: data-race write #5
    memcpy(row6, text, n); // expect: data-race write #6
    memmove(row7, text, n); // expect: data-race write #7
    strcpy(row8, name); // expect: data-race write #8
    strncpy(row9, name, n); // expect: data-race write #9
    stpcpy(row10, name); // expect: data-race write #10
    strcat(text, row11); // expect: data-race read #11
    pthread_join(thread, 0);
    return 0;
}
