// As the correct program, but a thread still uses the batch after it has given it back.
#include <loop.h>
#include <pthread.h>
#include <stdlib.h>

struct proactor {
    loop_async notify;
    pthread_mutex_t lock;
    loop_base loop;
    struct {
        loop_timer timer;
        char name[16];
    } clock;
    int is_working;
    int batch;
};

static struct proactor *p;

static int *take_batch(void) {
    loop_timer_stop(&p->clock.timer);
    loop_name_of(p->clock.name, 16);
    if (p->is_working)
        return NULL;
    p->is_working = 1;
    return &p->batch;
}

static int *wait_for_batch(void) {
    pthread_mutex_lock(&p->lock);
    int *batch = take_batch();
    if (!batch) {
        pthread_mutex_unlock(&p->lock);
        loop_run(&p->loop);
        pthread_mutex_lock(&p->lock);
        batch = take_batch();
    }
    pthread_mutex_unlock(&p->lock);
    return batch;
}

static void done(void) {
    pthread_mutex_lock(&p->lock);
    p->is_working = 0;
    pthread_mutex_unlock(&p->lock);
    loop_send(&p->notify);
}

static void *work(void *arg) {
    int *batch = wait_for_batch();
    if (batch) {
        done();
        (*batch)++; // expect: data-race #1
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    p = calloc(1, sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return p->batch;
}
