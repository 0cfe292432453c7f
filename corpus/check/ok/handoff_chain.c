// Each thread starts the next and hands the data on.
#include <pthread.h>

static int data;

static void *link(void *arg) {
    long depth = (long)arg;
    data += (int)depth;
    if (depth > 0) {
        pthread_t next;
        pthread_create(&next, NULL, link, (void *)(depth - 1));
        pthread_join(next, NULL);
        data++;
    }
    return NULL;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, link, (void *)3L);
    pthread_join(t, NULL);
    return data;
}
