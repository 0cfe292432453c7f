// What rare functions of the C library read and write: one thread calls, another looks without any
// order. `rare_results_ok.c` is the twin.
//@ libs: -lm
#define _GNU_SOURCE
#include <argp.h>
#include <libgen.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timeb.h>
#include <unistd.h>

_Alignas(64) int exponent;
_Alignas(64) long double whole;
_Alignas(64) int quotient;
_Alignas(64) long double cosine;
_Alignas(64) int sign;
_Alignas(64) char *end;
_Alignas(64) char digits[32];
_Alignas(64) int point;
_Alignas(64) unsigned processor;
_Alignas(64) char path[] = "/one/two";
_Alignas(64) char word[] = "abcdefgh";
_Alignas(64) char secret[] = "abcdefgh";
_Alignas(64) int parsed;
_Alignas(64) struct timeb now;
static volatile long double sink, x = 3.5L;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static int option(int key, char *text, struct argp_state *state) {
    return key == 0 && text == NULL && state == NULL ? ARGP_ERR_UNKNOWN : 0;
}

static void *calls(void *arg) {
    static struct argp parser = {.parser = option};
    char *words[] = {"name", "word", NULL};
    char room[32];
    long double sine;
    int negative;
    sink = frexpl(x, &exponent); // expect: data-race write #1
    sink = modfl(x, &whole); // expect: data-race write #2
    sink = remquol(x, 2.0L, &quotient); // expect: data-race write #3
    sincosl(x, &sine, &cosine); // expect: data-race write #4
    sink = lgammal_r(x, &sign); // expect: data-race write #5
    sink = strtold("1.5 ", &end); // expect: data-race write #6
    gcvt(1.5, 4, digits); // expect: data-race write #7
    if (ecvt_r(1.5, 4, &point, &negative, room, sizeof room) != 0) abort(); // expect: data-race write #8
    if (getcpu(&processor, NULL) != 0) abort(); // expect: data-race write #9
    dirname(path); // expect: data-race write #10
    strfry(word); // expect: data-race write #11
    memfrob(secret, 8); // expect: data-race write #12
    if (argp_parse(&parser, 2, words, ARGP_NO_EXIT, &parsed, NULL) != 0) abort(); // expect: data-race write #13
    ftime(&now); // expect: data-race write #14
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

static void *looks(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    double seen = exponent; // expect: data-race read #1
    seen += *(char *)&whole; // expect: data-race read #2
    seen += quotient; // expect: data-race read #3
    seen += *(char *)&cosine; // expect: data-race read #4
    seen += sign; // expect: data-race read #5
    seen += end == NULL; // expect: data-race read #6
    seen += digits[0]; // expect: data-race read #7
    seen += point; // expect: data-race read #8
    seen += processor; // expect: data-race read #9
    seen += path[4]; // expect: data-race read #10
    seen += word[1]; // expect: data-race read #11
    seen += secret[1]; // expect: data-race read #12
    seen += parsed; // expect: data-race read #13
    seen += now.time; // expect: data-race read #14
    return seen < 0 ? 0 : arg;
}

int main(void) {
    // Shared before the calls: `fast` forgets what one thread alone has touched.
    exponent = 0, *(char *)&whole = 0, quotient = 0, *(char *)&cosine = 0, sign = 0, end = NULL, digits[0] = 0, point = 0;
    processor = 0, path[4] = '/', word[1] = 'b', secret[1] = 'b', parsed = 0, now.time = 0;
    pthread_t a, b;
    pthread_create(&a, 0, calls, 0);
    pthread_create(&b, 0, looks, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
