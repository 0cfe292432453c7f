// A join with a timeout may return before the thread ends.
struct task {
    int state;
    char name[16];
};
extern int task_thread_start(struct task *t, void *(*f)(void *), void *arg);
extern int thread_join_timeout(struct task *t, int ms);

static struct task task;
static int done;

static void *work(void *arg)
{
    done++; // expect: data-race #1
    return 0;
}

int main(void)
{
    task_thread_start(&task, work, 0);
    if (thread_join_timeout(&task, 10) != 0)
        done = 0; // expect: data-race #1
    return 0;
}
