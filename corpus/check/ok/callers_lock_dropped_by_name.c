// The right twin of callers_lock_dropped_by_name.c.
typedef struct {
    void *p;
} GMutex;
typedef struct GThread GThread;
extern void g_mutex_lock(GMutex *m);
extern void g_mutex_unlock(GMutex *m);
extern GThread *g_thread_new(const char *name, void *(*f)(void *), void *arg);
extern int next_request(void);
static GMutex lock;
static int workers;

static void *work(void *arg)
{
    g_mutex_lock(&lock);
    workers--;
    g_mutex_unlock(&lock);
    return 0;
}

static void add_worker(int kind)
{
    if (kind != 7)
        return;
    g_mutex_unlock(&lock);
    g_thread_new("worker", work, 0);
    g_mutex_lock(&lock);
    workers++;
}

static void on_request(int kind)
{
    g_mutex_lock(&lock);
    add_worker(kind);
    g_mutex_unlock(&lock);
}

static const int never = 0;

int main(void)
{
    if (never)
        on_request(next_request());
    return 0;
}
