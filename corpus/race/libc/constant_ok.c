// Calls with constant arguments, which compilers expand, in order by joining the thread.
//@ flags: -O2
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct block {
    long a, b, c;
};

// expect: nothing
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

void *others_turn(void *arg) {
    struct block *other = others;
    memset(row1, 7, 24);
    memset(row2, 0, 3);
    memcpy(row3, from, 24);
    memcpy(row4, "xyzw", 4);
    memcpy(row5, from, 8);
    memmove(row6, from, 7);
    mempcpy(row7, from, 12);
    bzero(row8, 16);
    strcpy(row9, "abcdef");
    stpcpy(row10, "abc");
    strncpy(row11, "abc", 12);
    strcat(row12, "x");
    strncat(row13, "xyz", 2);
    sprintf(row14, "abcdef");
    sprintf(row15, "%s", "abc");
    snprintf(row16, 9, "xy");
    *(struct block *)row20 = (struct block){0};
    *(struct block *)row21 = *other;
    sink = memcmp(row22, "abcd", 4);
    sink = memcmp(row23, from, 7) == 0;
    sink = strcmp(row24, "ab");
    sink = strncmp(row25, "abc", 3) == 0;
    sink = strlen(row26);
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
    pthread_join(thread, NULL);
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
    row20[0] = '1';
    row21[0] = '1';
    row22[0] = '1';
    row23[0] = '1';
    row24[0] = '1';
    row25[0] = '1';
    row26[0] = '1';
    return 0;
}
