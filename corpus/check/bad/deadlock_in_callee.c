// The second lock is taken two calls down.
#include <pthread.h>

struct queue { pthread_mutex_t lock; int length; };
static struct queue in = { PTHREAD_MUTEX_INITIALIZER, 3 }, out = { PTHREAD_MUTEX_INITIALIZER, 0 };

static void add(struct queue *q, int n) {
    pthread_mutex_lock(&q->lock); // expect: deadlock #1
    q->length += n;
    pthread_mutex_unlock(&q->lock);
}

static void move(struct queue *from, struct queue *to) {
    pthread_mutex_lock(&from->lock);
    if (from->length > 0) {
        from->length--;
        add(to, 1);
    }
    pthread_mutex_unlock(&from->lock);
}

static void *forth(void *arg) { move(&in, &out); return NULL; }
static void *back(void *arg) { move(&out, &in); return NULL; }

int main(void) {
    pthread_t a, b;
    out.length = 3;
    pthread_create(&a, NULL, forth, NULL);
    pthread_create(&b, NULL, back, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
