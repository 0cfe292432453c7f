// As lock_freed_with_its_object.c, but the session lives on with its lock taken.
#include <pthread.h>
#include <stdlib.h>

struct session {
    pthread_mutex_t lock;
    int id;
};

static void *serve(void *arg)
{
    struct session *s = arg;
    pthread_mutex_lock(&s->lock); // expect: lock-leak
    s->id = 0;
    return 0;
}

int main(void)
{
    pthread_t t;
    struct session *s = malloc(sizeof *s);
    if (!s)
        return 1;
    pthread_mutex_init(&s->lock, 0);
    s->id = 1;
    if (pthread_create(&t, 0, serve, s) == 0)
        pthread_join(t, 0);
    return 0;
}
