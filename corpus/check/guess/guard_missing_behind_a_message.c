// No run comes to `drop`, which others must allow first. One thread takes the lock around the state,
// the other does not.
#include <pthread.h>

struct peer {
    pthread_mutex_t lock;
    int state;
    int dropped;
};

static int may_drop;

void allow_drop(int allowed) {
    may_drop = allowed;
}

int next_message(char *text, int size);

static void use(struct peer *p) {
    pthread_mutex_lock(&p->lock);
    if (p->state != 3)
        p->state = 2; // expect: data-race write #1
    pthread_mutex_unlock(&p->lock);
}

static void drop(struct peer *p) {
    p->state = 3; // expect: data-race write #1
}

static void *reader(void *arg) {
    struct peer *p = arg;
    char text[64];
    while (next_message(text, sizeof text) > 0)
        if (may_drop)
            drop(p);
    return NULL;
}

static void *sender(void *arg) {
    use(arg);
    return NULL;
}

void serve(struct peer *p) {
    pthread_t a, b;
    pthread_create(&a, NULL, reader, p);
    pthread_create(&b, NULL, sender, p);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
