// As glib_object_is_never_null.c, but nobody makes the queue before the thread.
#include <glib.h>

static GAsyncQueue *queue;

static gpointer write_lines(gpointer data)
{
    return queue; // expect: data-race read #1
}

static void log_line(char *line)
{
    if (queue == NULL)
        queue = g_async_queue_new(); // expect: data-race write #1
    g_async_queue_push(queue, line);
}

int main(void)
{
    GThread *thread = g_thread_new("log", write_lines, NULL);
    log_line("started");
    g_thread_join(thread);
    return 0;
}
