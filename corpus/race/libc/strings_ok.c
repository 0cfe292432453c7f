// expect: nothing
// The twin of strings_bad.c: with a lock.
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
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
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
    row12[0] = '1';
    row13[0] = '1';
    row14[0] = '1';
    row15[0] = '1';
    row16[0] = '1';
    row17[0] = '1';
    row18[0] = '1';
    row19[0] = '1';
    row20[0] = '1';
    row21[0] = '1';
    row22[0] = '1';
    row23[0] = '1';
    row24[0] = '1';
    row25[0] = '1';
    row26[0] = '1';
    row27[0] = '1';
    row28[0] = '1';
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
    pthread_mutex_lock(&lock);
    sink = strtol(row1, 0, 10);
    sink = strtoull(row2, 0, 16);
    sink = strtod(row3, 0) > 1;
    sink = atoi(row4);
    sink = atof(row5) > 1;
    sink = strcasecmp(row6, "abc");
    sink = strstr(row7, "43") != 0;
    sink = strspn(row8, "0123");
    sink = strpbrk(row9, "35") != 0;
    sink = memmem(row10, 8, "abc", 3) != 0;
    sink = memrchr(row11, 'x', 8) != 0;
    sink = strnlen(row12, 8);
    sink = bcmp(row13, text, 8);
    sink = strcoll(row14, text);
    sink = strxfrm(text, row15, 300);
    bzero(row16, size);
    explicit_bzero(row17, size);
    strncat(row18, text, 3);
    sink = strtok_r(row19, "1", &rest) != 0;
    mempcpy(row20, text, size);
    stpcpy(text, row21);
    memccpy(row22, text, 1, size);
    qsort(row23, 8, 1, by_byte);
    copy = strndup(row24, 4);
    sink = wcslen((wchar_t *)row25);
    wmemset((wchar_t *)row26, L'x', size / 4);
    sink = mbstowcs(wide, row27, 8);
    sink = wcscmp((wchar_t *)row28, wide);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return 0;
}
