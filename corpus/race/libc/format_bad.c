// What `printf` and its kin read and write is memory like any other.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

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
_Alignas(64) char row12[256];
_Alignas(64) char row13[256];
_Alignas(64) char row14[256];
atomic_int step;
volatile long sink;

void by_list(char *to, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(to, 64, format, list); // expect: data-race write #3
    va_end(list);
}

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
    row12[0] = '1'; // expect: data-race write #12
    row13[0] = '1'; // expect: data-race write #13
    row14[0] = '1'; // expect: data-race write #14
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
    fill(row12);
    fill(row13);
    fill(row14);
    FILE *null = fopen("/dev/null", "w");
    setvbuf(null, 0, _IONBF, 0);
    char text[400];
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) {
    }
    snprintf(row1, 64, "%d", 4); // expect: data-race write #1
    sprintf(row2, "%d", 5); // expect: data-race write #2
    by_list(row3, "%s-%d", "six", 6);
    snprintf(text, sizeof text, "%s", row4); // expect: data-race read #4
    snprintf(text, sizeof text, "%5d %-9.3f%%%c %.2s", 1, 2.0, 3, row5); // expect: data-race read #5
    snprintf(text, sizeof text, "%d %d %d %d %d %Lf %s", 1, 2, 3, 4, 5, 6.0L, row6); // expect: data-race read #6
    fprintf(null, "%s", row7); // expect: data-race read #7
    fprintf(null, row8); // expect: data-race read #8
    snprintf(text, sizeof text, "%d%n", 7, (int *)row9); // expect: data-race write #9
    dprintf(fileno(null), "%s", row10); // expect: data-race read #10
    swprintf((wchar_t *)row11, 16, L"%d", 8); // expect: data-race write #11
    sink = asprintf((char **)row12, "%d", 9); // expect: data-race write #12
    fputs(row13, null); // expect: data-race read #13
    fwrite(row14, 1, 8, null); // expect: data-race read #14
    pthread_join(thread, 0);
    return 0;
}
