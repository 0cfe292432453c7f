// A semaphore of one's own, in memory that was mapped.
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    int value;
};

static struct gate *gate;
static int counter;

static void down(struct gate *g) {
    pthread_mutex_lock(&g->lock);
    while (!g->value)
        pthread_cond_wait(&g->cond, &g->lock);
    g->value--;
    pthread_mutex_unlock(&g->lock);
}

static void up(struct gate *g) {
    pthread_mutex_lock(&g->lock);
    g->value++;
    pthread_cond_signal(&g->cond);
    pthread_mutex_unlock(&g->lock);
}

static void *worker(void *arg) {
    down(gate);
    counter++;
    up(gate);
    return NULL;
}

int main(int argc, char **argv) {
    int n = atoi(argv[1]);
    gate = mmap(NULL, sizeof *gate, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->cond, NULL);
    gate->value = 1;
    pthread_t *t = malloc(n * sizeof *t);
    for (int i = 0; i < n; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    unknown_progress(t);
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
    free(gate);
    return counter;
}
