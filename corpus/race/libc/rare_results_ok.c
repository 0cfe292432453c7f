// What rare functions of the C library read and write: one thread calls, and another looks after it
// was joined; two call `lgamma` at once. `rare_results_bad.c` is the twin.
// expect: nothing
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
    sink = frexpl(x, &exponent);
    sink = modfl(x, &whole);
    sink = remquol(x, 2.0L, &quotient);
    sincosl(x, &sine, &cosine);
    sink = lgammal_r(x, &sign);
    sink = strtold("1.5 ", &end);
    gcvt(1.5, 4, digits);
    if (ecvt_r(1.5, 4, &point, &negative, room, sizeof room) != 0) abort();
    if (getcpu(&processor, NULL) != 0) abort();
    dirname(path);
    strfry(word);
    memfrob(secret, 8);
    if (argp_parse(&parser, 2, words, ARGP_NO_EXIT, &parsed, NULL) != 0) abort();
    ftime(&now);
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

static void *looks(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    double seen = exponent;
    seen += *(char *)&whole;
    seen += quotient;
    seen += *(char *)&cosine;
    seen += sign;
    seen += end == NULL;
    seen += digits[0];
    seen += point;
    seen += processor;
    seen += path[4];
    seen += word[1];
    seen += secret[1];
    seen += parsed;
    seen += now.time;
    return seen < 0 ? 0 : arg;
}

int main(void) {
    // Shared before the calls: `fast` forgets what one thread alone has touched.
    exponent = 0, *(char *)&whole = 0, quotient = 0, *(char *)&cosine = 0, sign = 0, end = NULL, digits[0] = 0, point = 0;
    processor = 0, path[4] = '/', word[1] = 'b', secret[1] = 'b', parsed = 0, now.time = 0;
    pthread_t a, b;
    pthread_create(&a, 0, calls, 0);
    volatile double own = lgamma(-0.5); // nobody reads the sign meanwhile
    (void)own;
    pthread_join(a, 0);
    pthread_create(&b, 0, looks, 0);
    pthread_join(b, 0);
    return 0;
}
