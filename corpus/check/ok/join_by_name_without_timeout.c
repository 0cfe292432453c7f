// The right twin of join_by_name_with_timeout.c.
struct task {
    int state;
    char name[16];
};
extern int task_thread_start(struct task *t, void *(*f)(void *), void *arg);
extern int thread_join(struct task *t);

static struct task task;
static int done;

static void *work(void *arg)
{
    done++;
    return 0;
}

int main(void)
{
    task_thread_start(&task, work, 0);
    if (thread_join(&task) != 0)
        done = 0;
    return 0;
}
