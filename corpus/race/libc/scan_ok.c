// expect: nothing
// The twin of scan_bad.c: with a lock.
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
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
volatile long sink;

void fill(char *to) {
    for (int i = 0; i < 7; i++)
        to[i] = '8' - i;
}

void *writer(void *arg) {
    pthread_mutex_lock(&lock);
    row1[0] = '1';
    row2[0] = '1';
    row3[0] = '1';
    row4[0] = '1';
    row5[0] = '1';
    row6[0] = '1';
    row7[0] = '1';
    row8[0] = '1';
    row9[0] = '1';
    pthread_mutex_unlock(&lock);
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
    pthread_mutex_lock(&lock);
    sink = sscanf(row1, "%d", &i);
    sink = sscanf("word", "%s", row2);
    sink = sscanf("x 12", "%*s %d", (int *)row3);
    sink = sscanf("1.5", "%lf", (double *)row4);
    sink = sscanf("abc", "%[a-b]", row5);
    sink = sscanf("abc", "%2c", row6);
    sink = fscanf(in, "%8s", row7);
    sink = fgets(row8, 20, in) != 0;
    sink = fread(row9, 1, 4, in);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return 0;
}
