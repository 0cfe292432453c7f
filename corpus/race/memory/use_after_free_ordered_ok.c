// expect: nothing
// The twin of use_after_free_ordered_bad.c: blocks are used before they are freed, and others get their memory.
#include <pthread.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};
struct node *volatile shared;
volatile int sink;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *work(void *arg) {
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(&lock);
        struct node *old = shared;
        shared = calloc(1, sizeof *shared);
        shared->value = old->value + 1;
        free(old);
        pthread_mutex_unlock(&lock);
        char *text = malloc(i % 600 + 1);
        text[0] = 1;
        text = realloc(text, i % 900 + 1);
        text[i % 900] = 1;
        free(text);
    }
    return arg;
}

int main(void) {
    shared = calloc(1, sizeof *shared);
    for (int round = 0; round < 4; round++) {
        pthread_t threads[3];
        for (int i = 0; i < 3; i++)
            pthread_create(&threads[i], 0, work, 0);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], 0);
    }
    return shared->value != 24000;
}
