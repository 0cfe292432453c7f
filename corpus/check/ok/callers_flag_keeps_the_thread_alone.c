// `open_log` is the only caller of `start`. It has seen that nobody flushes and made the buffer, so
// the thread does not free it.
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
        free(log->buffer);
    return 0;
}

static void start(struct log *log)
{
    pthread_t id;
    if (pthread_create(&id, 0, flush, log) == 0) {
        pthread_detach(id);
        log->buffer[0] = 1;
    }
}

static void open_log(struct log *log)
{
    log->is_shared = 1;
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
