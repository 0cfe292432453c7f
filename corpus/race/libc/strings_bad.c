// Functions that look at strings and blocks, or change them.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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
_Alignas(64) char row15[256];
_Alignas(64) char row16[256];
_Alignas(64) char row17[256];
_Alignas(64) char row18[256];
_Alignas(64) char row19[256];
_Alignas(64) char row20[256];
_Alignas(64) char row21[256];
_Alignas(64) char row22[256];
_Alignas(64) char row23[256];
_Alignas(64) char row24[256];
_Alignas(64) char row25[256];
_Alignas(64) char row26[256];
_Alignas(64) char row27[256];
_Alignas(64) char row28[256];
atomic_int step;
volatile long sink;
volatile size_t size = 8;
char *volatile copy;

int by_byte(const void *a, const void *b) {
    (void)a;
    (void)b;
    return 0;
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
    row15[0] = '1'; // expect: data-race write #15
    row16[0] = '1'; // expect: data-race write #16
    row17[0] = '1'; // expect: data-race write #17
    row18[0] = '1'; // expect: data-race write #18
    row19[0] = '1'; // expect: data-race write #19
    row20[0] = '1'; // expect: data-race write #20
    row21[0] = '1'; // expect: data-race write #21
    row22[0] = '1'; // expect: data-race write #22
    row23[0] = '1'; // expect: data-race write #23
    row24[0] = '1'; // expect: data-race write #24
    row25[0] = '1'; // expect: data-race write #25
    row26[0] = '1'; // expect: data-race write #26
    row27[0] = '1'; // expect: data-race write #27
    row28[0] = '1'; // expect: data-race write #28
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
    fill(row15);
    fill(row16);
    fill(row17);
    fill(row18);
    fill(row19);
    fill(row20);
    fill(row21);
    fill(row22);
    fill(row23);
    fill(row24);
    fill(row25);
    fill(row26);
    fill(row27);
    fill(row28);
    char text[400] = "1";
    wchar_t wide[80] = L"a";
    char *rest;
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    while (!atomic_load_explicit(&step, memory_order_relaxed)) {
    }
    sink = strtol(row1, 0, 10); // expect: data-race read #1
    sink = strtoull(row2, 0, 16); // expect: data-race read #2
    sink = strtod(row3, 0) > 1; // expect: data-race read #3
    sink = atoi(row4); // expect: data-race read #4
    sink = atof(row5) > 1; // expect: data-race read #5
    sink = strcasecmp(row6, "abc"); // expect: data-race read #6
    sink = strstr(row7, "43") != 0; // expect: data-race read #7
    sink = strspn(row8, "0123"); // expect: data-race read #8
    sink = strpbrk(row9, "35") != 0; // expect: data-race read #9
    sink = memmem(row10, 8, "abc", 3) != 0; // expect: data-race read #10
    sink = memrchr(row11, 'x', 8) != 0; // expect: data-race read #11
    sink = strnlen(row12, 8); // expect: data-race read #12
    sink = bcmp(row13, text, 8); // expect: data-race read #13
    sink = strcoll(row14, text); // expect: data-race read #14
    sink = strxfrm(text, row15, 300); // expect: data-race read #15
    bzero(row16, size); // expect: data-race write #16
    explicit_bzero(row17, size); // expect: data-race write #17
    strncat(row18, text, 3); // expect: data-race read #18
    sink = strtok_r(row19, "1", &rest) != 0; // expect: data-race read #19 | write #19
    mempcpy(row20, text, size); // expect: data-race write #20
    stpcpy(text, row21); // expect: data-race read #21
    memccpy(row22, text, 1, size); // expect: data-race write #22
    qsort(row23, 8, 1, by_byte); // expect: data-race write #23
    copy = strndup(row24, 4); // expect: data-race read #24
    sink = wcslen((wchar_t *)row25); // expect: data-race read #25
    wmemset((wchar_t *)row26, L'x', size / 4); // expect: data-race write #26
    sink = mbstowcs(wide, row27, 8); // expect: data-race read #27
    sink = wcscmp((wchar_t *)row28, wide); // expect: data-race read #28
    pthread_join(thread, 0);
    return 0;
}
