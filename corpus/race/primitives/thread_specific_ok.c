// Thread-specific data: each thread its own block, freed by the destructor at the thread's end, which happens before join.
// A destructor that sets the key again is run again. Silent in every mode.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>

pthread_key_t key;
int again[4];
struct block { int *rounds; long values[32]; };

static void destroy(void *value) {
    struct block *b = value;
    if (++*b->rounds < 2) {
        pthread_setspecific(key, b); // once more, please
        return;
    }
    free(b);
}

void *work(void *arg) {
    struct block *b = calloc(1, sizeof *b);
    b->rounds = arg;
    pthread_setspecific(key, b);
    for (int i = 0; i < 1000; i++) ((struct block *)pthread_getspecific(key))->values[i % 32]++;
    return 0;
}

int main(void) {
    pthread_key_create(&key, destroy);
    for (int round = 0; round < 20; round++) {
        pthread_t t[4];
        for (int i = 0; i < 4; i++) {
            again[i] = 0;
            pthread_create(&t[i], 0, work, &again[i]);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(t[i], 0);
            if (again[i] != 2) return 1;
        }
    }
    return 0;
}
