// expect: invariant
// After Aget (figure 9 of the paper): ten threads count what they have written, each for itself and all together, and another saves
// both. What it saves need not add up, and nothing in the program says so.
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
    mine->written += 100;
    pthread_mutex_lock(&lock);
    total += 100;
    pthread_mutex_unlock(&lock);
    return 0;
}

void *save(void *arg) {
    for (int i = 0; i < WORKERS; i++)
        saved.parts[i].written = parts[i].written;
    saved.total = total;
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
