// `g_async_queue_new` ends the program rather than return null, so `log_line` does not make a second
// queue beside the thread.
#include <glib.h>

static GAsyncQueue *queue;

static gpointer write_lines(gpointer data)
{
    return g_async_queue_pop(queue);
}

static void log_line(char *line)
{
    if (queue == NULL)
        queue = g_async_queue_new();
    g_async_queue_push(queue, line);
}

int main(void)
{
    queue = g_async_queue_new();
    GThread *thread = g_thread_new("log", write_lines, NULL);
    log_line("started");
    g_thread_join(thread);
    return 0;
}
