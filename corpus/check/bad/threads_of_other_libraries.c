// Threads that GLib, a library that nobody defines, and a pool start.
#include <glib.h>

static int a, b, c;

static gpointer by_glib(gpointer data) {
    a++; // expect: data-race #1
    return data;
}

static void *by_name(void *arg) {
    b++; // expect: data-race #2
    return arg;
}

static void by_pool(gpointer item, gpointer data) {
    c++; // expect: data-race #3
}

extern int my_thread_create(void *handle, void *(*f)(void *), void *arg);

int main(void) {
    void *h;
    GThread *t = g_thread_new("worker", by_glib, NULL);
    GThreadPool *pool = g_thread_pool_new(by_pool, NULL, 2, 0, NULL);
    my_thread_create(&h, by_name, NULL);
    g_thread_pool_push(pool, &a, NULL);
    g_thread_pool_push(pool, &b, NULL);
    a++; // expect: data-race #1
    b++; // expect: data-race #2
    g_thread_join(t);
    return 0;
}
