// A macro that nobody defines stands for an item of the list and its comma; the rest of `main` is still there.
#include <pthread.h>
#include <popt.h>

static int n;

static void *worker(void *arg) {
    n++; // expect: data-race #1
    return arg;
}

int main(int argc, const char **argv) {
    pthread_t t;
    struct poptOption options[] = {
        {"system", 0, POPT_ARG_VAL, 0, 1, "x", 0},
        POPT_AUTOHELP {0, 0, 0, 0, 0, 0, 0}};
    poptContext c = poptGetContext(0, argc, argv, options, 0);
    pthread_create(&t, NULL, worker, NULL);
    n++; // expect: data-race #1
    pthread_join(t, NULL);
    return 0;
}
