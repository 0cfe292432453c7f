// As resumed_only_if_paused.c, but nobody clears the flag.
#include <pthread.h>

extern int next_command(void);
static pthread_mutex_t paused = PTHREAD_MUTEX_INITIALIZER;

static void *control(void *arg)
{
    int is_paused = 0;
    for (int i = 0; i < 3; i++) {
        if (next_command() == 'p' && !is_paused) {
            pthread_mutex_lock(&paused);
            is_paused = 1;
        } else if (is_paused) {
            pthread_mutex_unlock(&paused); // expect: unlock-not-held #1
        }
    }
    if (is_paused)
        pthread_mutex_unlock(&paused); // expect: unlock-not-held #2
    return arg;
}

static void start(int kind)
{
    pthread_t id;
    if (kind == 7)
        pthread_create(&id, 0, control, 0);
}

static const int never = 0;

int main(void)
{
    if (never)
        start(next_command());
    return 0;
}
