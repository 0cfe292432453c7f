// The caller of `start` and the thread hold the same lock, both for reading, and both write.
#include <pthread.h>

struct table {
    pthread_rwlock_t lock;
    int rows;
};

static int is_loaded;

void load(void) {
    is_loaded = 1;
}

struct table *find_table(int);

static void *shrink(void *arg) {
    struct table *t = arg;
    pthread_rwlock_rdlock(&t->lock);
    t->rows--; // expect: data-race #1
    pthread_rwlock_unlock(&t->lock);
    return NULL;
}

static void start(struct table *t) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, shrink, t) == 0)
        t->rows++; // expect: data-race #1
}

int main(int argc, char **argv) {
    if (is_loaded) {
        struct table *t = find_table(argc);
        pthread_rwlock_rdlock(&t->lock);
        start(t);
        pthread_rwlock_unlock(&t->lock);
    }
    return 0;
}
