// Calls with constant arguments, which compilers expand: each still is an access.
//@ flags: -O2
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct block {
    long a, b, c;
};

_Alignas(64) char row1[64] = "ab";
_Alignas(64) char row2[64] = "ab";
_Alignas(64) char row3[64] = "ab";
_Alignas(64) char row4[64] = "ab";
_Alignas(64) char row5[64] = "ab";
_Alignas(64) char row6[64] = "ab";
_Alignas(64) char row7[64] = "ab";
_Alignas(64) char row8[64] = "ab";
_Alignas(64) char row9[64] = "ab";
_Alignas(64) char row10[64] = "ab";
_Alignas(64) char row11[64] = "ab";
_Alignas(64) char row12[64] = "ab";
_Alignas(64) char row13[64] = "ab";
_Alignas(64) char row14[64] = "ab";
_Alignas(64) char row15[64] = "ab";
_Alignas(64) char row16[64] = "ab";
_Alignas(64) char row20[64] = "ab";
_Alignas(64) char row21[64] = "ab";
_Alignas(64) char row22[64] = "ab";
_Alignas(64) char row23[64] = "ab";
_Alignas(64) char row24[64] = "ab";
_Alignas(64) char row25[64] = "ab";
_Alignas(64) char row26[64] = "ab";
char from[64] = "from";
struct block *volatile others;
volatile int sink;
atomic_int step;

void *others_turn(void *arg) {
    struct block *other = others;
    memset(row1, 7, 24); // expect: data-race write #1
    memset(row2, 0, 3); // expect: data-race write #2
    memcpy(row3, from, 24); // expect: data-race write #3
    memcpy(row4, "xyzw", 4); // expect: data-race write #4
    memcpy(row5, from, 8); // expect: data-race write #5
    memmove(row6, from, 7); // expect: data-race write #6
    mempcpy(row7, from, 12); // expect: data-race write #7
    bzero(row8, 16); // expect: data-race write #8
    strcpy(row9, "abcdef"); // expect: data-race write #9
    stpcpy(row10, "abc"); // expect: data-race write #10
    strncpy(row11, "abc", 12); // expect: data-race write #11
    strcat(row12, "x"); // expect: data-race write #12 | read #12
    strncat(row13, "xyz", 2); // expect: data-race write #13 | read #13
    sprintf(row14, "abcdef"); // expect: data-race write #14
    sprintf(row15, "%s", "abc"); // expect: data-race write #15
    snprintf(row16, 9, "xy"); // expect: data-race write #16
    *(struct block *)row20 = (struct block){0}; // expect: data-race write #20
    *(struct block *)row21 = *other; // expect: data-race write #21
    sink = memcmp(row22, "abcd", 4); // expect: data-race read #22
    sink = memcmp(row23, from, 7) == 0; // expect: data-race read #23
    sink = strcmp(row24, "ab"); // expect: data-race read #24
    sink = strncmp(row25, "abc", 3) == 0; // expect: data-race read #25
    sink = strlen(row26); // expect: data-race read #26
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    static struct block zero;
    others = &zero;
    pthread_t thread;
    // Shared before the calls: `fast` forgets what one thread alone has touched.
    char *const rows[] = {
        row1, row2, row3, row4, row5, row6, row7, row8, row9, row10, row11,
        row12, row13, row14, row15, row16, row20, row21,
        row22, row23, row24, row25, row26,
    };
    for (int i = 0; i < 23; i++)
        rows[i][0] = 'a';
    pthread_create(&thread, NULL, others_turn, NULL);
    while (atomic_load_explicit(&step, memory_order_relaxed) == 0) {
    }
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
    row20[0] = '1'; // expect: data-race write #20
    row21[0] = '1'; // expect: data-race write #21
    row22[0] = '1'; // expect: data-race write #22
    row23[0] = '1'; // expect: data-race write #23
    row24[0] = '1'; // expect: data-race write #24
    row25[0] = '1'; // expect: data-race write #25
    row26[0] = '1'; // expect: data-race write #26
    pthread_join(thread, NULL);
    return 0;
}
