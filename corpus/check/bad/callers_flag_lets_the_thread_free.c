// As callers_flag_keeps_the_thread_alone.c, but the caller says that the thread owns the buffer.
#include <pthread.h>
#include <stdlib.h>

struct log {
    int is_shared;
    char *buffer;
};

extern struct log *find_log(void);

static void *flush(void *arg)
{
    struct log *log = arg;
    if (!log->is_shared)
        free(log->buffer); // expect: data-race free #1
    return 0;
}

static void start(struct log *log)
{
    pthread_t id;
    if (pthread_create(&id, 0, flush, log) == 0) {
        pthread_detach(id);
        log->buffer[0] = 1; // expect: data-race write #1
    }
}

static void open_log(struct log *log)
{
    log->is_shared = 0;
    log->buffer = malloc(16);
    if (log->buffer)
        start(log);
}

static const int never = 0;

int main(void)
{
    if (never)
        open_log(find_log());
    return 0;
}
