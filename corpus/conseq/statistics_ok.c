// expect: nothing
// The twin of statistics_bad.c: the two counts change under the lock, and are saved under it.
#include <pthread.h>
#include <string.h>

#define WORKERS 10
struct part {
    long offset;
    long written;
};
struct part parts[WORKERS];
long total;
struct {
    struct part parts[WORKERS];
    long total;
} saved;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *download(void *arg) {
    struct part *mine = arg;
    pthread_mutex_lock(&lock);
    mine->written += 100;
    total += 100;
    pthread_mutex_unlock(&lock);
    return 0;
}

void *save(void *arg) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < WORKERS; i++)
        saved.parts[i].written = parts[i].written;
    saved.total = total;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t workers[WORKERS], saver;
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], 0, download, &parts[i]);
    pthread_create(&saver, 0, save, 0);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], 0);
    pthread_join(saver, 0);
    return 0;
}
