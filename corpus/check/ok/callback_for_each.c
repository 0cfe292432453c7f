// Threads hand callbacks that lock to functions that call them for each element.
#include <pthread.h>
#include <stddef.h>

extern void *queue;
void queue_foreach(void *queue, void (*visit)(void *));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int visits;

static void visit(void *element) {
    pthread_mutex_lock(&lock);
    visits++;
    pthread_mutex_unlock(&lock);
}

static void *work(void *data) {
    queue_foreach(queue, visit);
    return data;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, NULL, work, NULL);
    pthread_create(&u, NULL, work, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}
