// The right twin of join_by_name_of_one_runtime.c.
struct runtime {
    int n;
    char name[24];
};
typedef void *rt_thread;
extern rt_thread rt_thread_create(struct runtime *rt, void *(*f)(void *), void *arg);
extern void rt_thread_join(struct runtime *rt, rt_thread t);

static struct runtime runtime;
static int reads, writes;

static void *reader(void *arg)
{
    reads++;
    return 0;
}

static void *writer(void *arg)
{
    writes++;
    return 0;
}

int main(void)
{
    rt_thread a = rt_thread_create(&runtime, reader, 0);
    rt_thread b = rt_thread_create(&runtime, writer, 0);
    rt_thread_join(&runtime, b);
    writes = 0;
    rt_thread_join(&runtime, a);
    reads = 0;
    return 0;
}
