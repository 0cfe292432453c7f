// A hash table with one lock for every few buckets; insert, find, remove with nodes from malloc, and a resize-free sweep that
// takes the stripes one after the other. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>

enum { BUCKETS = 64, STRIPES = 8, OPERATIONS = 3000 };
struct node { struct node *next; unsigned key; long value; };
struct node *bucket[BUCKETS];
pthread_mutex_t stripe[STRIPES];

static void update(unsigned key, int operation) {
    unsigned b = key % BUCKETS;
    pthread_mutex_t *mu = &stripe[b % STRIPES];
    pthread_mutex_lock(mu);
    struct node **p = &bucket[b];
    while (*p && (*p)->key != key) p = &(*p)->next;
    if (operation == 0 && *p) {
        struct node *gone = *p;
        *p = gone->next;
        free(gone);
    } else if (*p) {
        (*p)->value++;
    } else {
        struct node *n = malloc(sizeof *n);
        *n = (struct node){bucket[b], key, 1};
        bucket[b] = n;
    }
    pthread_mutex_unlock(mu);
}

static long sweep(void) {
    long total = 0;
    for (int s = 0; s < STRIPES; s++) {
        pthread_mutex_lock(&stripe[s]);
        for (int b = s; b < BUCKETS; b += STRIPES)
            for (struct node *n = bucket[b]; n; n = n->next) total += n->value;
        pthread_mutex_unlock(&stripe[s]);
    }
    return total;
}

void *work(void *arg) {
    unsigned x = (unsigned)(long)arg;
    for (int i = 0; i < OPERATIONS; i++) {
        x = x * 1103515245 + 12345;
        update(x >> 16 & 255, (int)(x >> 24 & 3));
        if (i % 500 == 0 && sweep() < 0) abort();
    }
    return 0;
}

int main(void) {
    for (int i = 0; i < STRIPES; i++) pthread_mutex_init(&stripe[i], 0);
    pthread_t t[3];
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, work, (void *)(i + 1));
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return sweep() == 0;
}
