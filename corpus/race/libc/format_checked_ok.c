//@ flags: -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
// expect: nothing
// The twin of format_checked_bad.c: with a lock.
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
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
volatile long sink;
volatile size_t n = 8;
char *volatile name = "name";

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
    row10[0] = '1';
    row11[0] = '1';
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
    fill(row10);
    fill(row11);
    FILE *null = fopen("/dev/null", "w");
    char text[400];
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    pthread_mutex_lock(&lock);
    snprintf(row1, n, "%d", 4);
    sprintf(row2, "%ld", sink);
    snprintf(text, n, "%s", row3);
    fprintf(null, "%s", row4);
    memset(row5, 1, n);
    memcpy(row6, text, n);
    memmove(row7, text, n);
    strcpy(row8, name);
    strncpy(row9, name, n);
    stpcpy(row10, name);
    strcat(text, row11);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return 0;
}
