// expect: use-after-free
// A task is handed over before its number is known: who has taken it may have freed it by then.
#include <pthread.h>
#include <stdlib.h>

struct task {
    struct task *next;
    int number;
};
struct task *tasks;
int stop, sum;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t more = PTHREAD_COND_INITIALIZER;

void *worker(void *arg) {
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!tasks && !stop) pthread_cond_wait(&more, &lock);
        struct task *mine = tasks;
        if (mine) tasks = mine->next;
        pthread_mutex_unlock(&lock);
        if (!mine) return arg;
        sum += mine->number;
        free(mine);
    }
}

void add(int number) {
    struct task *new = malloc(sizeof *new);
    pthread_mutex_lock(&lock);
    new->next = tasks;
    tasks = new;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&lock);
    new->number = number;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    add(1);
    add(2);
    pthread_mutex_lock(&lock);
    stop = 1;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return sum > 3;
}
