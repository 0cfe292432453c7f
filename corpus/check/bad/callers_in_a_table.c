// As callers_hold_the_lock.c, but a table leads to the function as well.
#include <pthread.h>

extern int next_request(void);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int workers;

static void *work(void *arg)
{
    pthread_mutex_lock(&lock);
    workers--; // expect: data-race #1
    pthread_mutex_unlock(&lock);
    return 0;
}

static void add_worker(int kind)
{
    pthread_t id;
    if (kind != 7)
        return;
    if (pthread_create(&id, 0, work, 0) == 0) {
        pthread_detach(id);
        workers++; // expect: data-race #1
    }
}

struct command {
    const char *name;
    void (*run)(int);
};
static const struct command commands[] = {{"add", add_worker}};

static void on_request(int kind)
{
    pthread_mutex_lock(&lock);
    add_worker(kind);
    pthread_mutex_unlock(&lock);
}

static void on_command(int i, int kind)
{
    commands[i].run(kind);
}

static const int never = 0;

int main(void)
{
    if (never) {
        on_request(next_request());
        on_command(0, next_request());
    }
    return 0;
}
