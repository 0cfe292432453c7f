// `scanf` reads its string and writes what it finds; streams fill buffers.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
atomic_int step;
volatile long sink;

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
    char lines[] = "alpha 12\nbeta 3.5\ngamma\ndelta\n0123456789";
    FILE *in = fmemopen(lines, sizeof lines - 1, "r");
    int i;
    size_t room = 256;
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) {
    }
    sink = sscanf(row1, "%d", &i); // expect: data-race read #1
    sink = sscanf("word", "%s", row2); // expect: data-race write #2
    sink = sscanf("x 12", "%*s %d", (int *)row3); // expect: data-race write #3
    sink = sscanf("1.5", "%lf", (double *)row4); // expect: data-race write #4
    sink = sscanf("abc", "%[a-b]", row5); // expect: data-race write #5
    sink = sscanf("abc", "%2c", row6); // expect: data-race write #6
    sink = fscanf(in, "%8s", row7); // expect: data-race write #7
    sink = fgets(row8, 20, in) != 0; // expect: data-race write #8
    sink = fread(row9, 1, 4, in); // expect: data-race write #9
    pthread_join(thread, 0);
    return 0;
}
