// expect: nothing
// What dl_iterate_phdr calls waits for another thread, which looks at the loaded files only after
// it has told.
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <semaphore.h>

sem_t told;

int counts(struct dl_phdr_info *file, size_t size, void *n) {
    ++*(int *)n;
    return 0;
}

int waits(struct dl_phdr_info *file, size_t size, void *n) {
    sem_wait(&told);
    return 1;
}

void *tells(void *arg) {
    int n = 0;
    sem_post(&told);
    dl_iterate_phdr(counts, &n);
    return n > 0 ? 0 : arg;
}

int main(void) {
    sem_init(&told, 0, 0);
    pthread_t t;
    pthread_create(&t, 0, tells, 0);
    dl_iterate_phdr(waits, 0);
    pthread_join(t, 0);
    return 0;
}
