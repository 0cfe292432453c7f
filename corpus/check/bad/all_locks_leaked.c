// One call takes all locks of an object, and one way out forgets them. That is one finding, and so is
// the release of all. The two early returns of another function are two.
#include <pthread.h>

struct port {
    pthread_mutex_t in, out;
    int bytes;
};

extern int option(void);

static void port_lock(struct port *p) {
    pthread_mutex_lock(&p->in);  // expect: lock-leak #1
    pthread_mutex_lock(&p->out); // expect: lock-leak #1
}

static void port_unlock(struct port *p) {
    pthread_mutex_unlock(&p->out); // expect: unlock-not-held #2
    pthread_mutex_unlock(&p->in);  // expect: unlock-not-held #2
}

static void *forgets(void *argument) {
    struct port *p = argument;
    port_lock(p);
    if (p->bytes++ > 2)
        return 0;
    port_unlock(p);
    return 0;
}

static void *releases(void *argument) {
    port_unlock(argument);
    return 0;
}

static void use(struct port *p) {
    pthread_mutex_lock(&p->in); // expect: lock-leak #3
    if (option() > 2)
        return;
    pthread_mutex_unlock(&p->in);
    pthread_mutex_lock(&p->out); // expect: lock-leak #4
    if (option() > 3)
        return;
    pthread_mutex_unlock(&p->out);
}

static void *returns_early(void *argument) {
    use(argument);
    return 0;
}

static struct port first = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, 5};
static struct port second = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, 0};
static struct port third = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, 0};

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, forgets, &first);
    pthread_create(&threads[1], 0, releases, &second);
    pthread_create(&threads[2], 0, returns_early, &third);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
