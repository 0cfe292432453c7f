// `serve` is entered from `main`, but in a state in which it starts nothing.
#include <pthread.h>

static struct { int state; } conf;
static int n;

static void *worker(void *arg) {
    n++; // expect: data-race #1
    return arg;
}

static void serve(int state) {
    pthread_t t;
    if (state == 2) {
        pthread_create(&t, NULL, worker, NULL);
        n++; // expect: data-race #1
        pthread_join(t, NULL);
    }
}

int main(void) {
    serve(conf.state);
    return 0;
}

void on_message(int state) { conf.state = state; }
