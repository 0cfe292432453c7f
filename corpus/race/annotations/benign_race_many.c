// A benign race is annotated in each of many objects: some live, most are freed again and their memory used for others.
#include <pthread.h>
#include <stdlib.h>
#include "raddle/annotations.h"

enum { LIVE = 10000 };
struct counter {
    long hits;
    long other;
} *live[LIVE];

void *work(void *arg) {
    for (int i = 0; i < LIVE; i += 100) live[i]->hits++;
    live[LIVE - 1]->other++;                            // expect: data-race write write #1 | read write #1
    return arg;
}

int main(void) {
    for (int i = 0; i < LIVE; i++) {
        live[i] = malloc(sizeof *live[i]);
        live[i]->hits = live[i]->other = 0;
        ANNOTATE_BENIGN_RACE(&live[i]->hits, "statistics only");
        struct counter *gone = malloc(sizeof *gone);
        ANNOTATE_BENIGN_RACE(&gone->hits, "statistics only");
        free(gone);
    }
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
